#!/usr/bin/env bash
# The start of a broker as in the image apache/kafka: KAFKA_LOG_DIRS becomes log.dirs, and the storage is formatted once.
set -euo pipefail
properties=/opt/kafka/config/server.properties
: > "$properties"
while IFS='=' read -r name value; do
  case "$name" in
    KAFKA_HEAP_OPTS | KAFKA_OPTS | KAFKA_VERSION) ;;
    KAFKA_*)
      key=${name#KAFKA_}
      key=${key,,}
      printf '%s=%s\n' "${key//_/.}" "$value" >> "$properties"
      ;;
  esac
done < <(env)
java=(java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn
  -Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info -cp '/opt/kafka/libs/*')
"${java[@]}" -Xmx96m kafka.tools.StorageTool format --ignore-formatted --cluster-id="$CLUSTER_ID" -c "$properties"
# shellcheck disable=SC2086 # The options of the heap are several words.
exec "${java[0]}" ${KAFKA_HEAP_OPTS:--Xmx1g} "${java[@]:1}" kafka.Kafka "$properties"
