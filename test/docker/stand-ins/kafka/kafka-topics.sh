#!/usr/bin/env bash
# As in the image apache/kafka.
exec java -Xmx96m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '/opt/kafka/libs/*' org.apache.kafka.tools.TopicCommand "$@"
