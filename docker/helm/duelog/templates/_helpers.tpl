{{/* Names, and what all pods have in common. A part is a process with its roles: scheduler, api, auditor, history, intake, a pool. */}}

{{/*
A text as a name of Kubernetes: small letters, digits and dashes, a letter first, no dash last. A text that is changed or cut for it
gets a hash of itself, so that two texts never have one name. Arguments: `text`, `max`, the most characters.
*/}}
{{- define "duelog.asName" -}}
{{- if and (regexMatch "^[a-z]([a-z0-9-]*[a-z0-9])?$" .text) (le (len .text) .max) -}}
{{ .text }}
{{- else -}}
{{ printf "%s-%s" (regexReplaceAll "^([^a-z])" (regexReplaceAll "[^a-z0-9-]" .text "-") "n${1}" | trunc (sub .max 9 | int)) (sha256sum .text | trunc 8) }}
{{- end -}}
{{- end -}}

{{/* At most 40 characters: with the part and the number of the pod, a StatefulSet stays below 63. */}}
{{- define "duelog.name" -}}
{{- if eq .Release.Name .Chart.Name -}}{{ .Release.Name }}{{- else -}}{{ include "duelog.asName" (dict "text" (printf "%s-duelog" .Release.Name) "max" 40) }}{{- end -}}
{{- end -}}

{{/* The part of a pool. Argument: the name of the pool. */}}
{{- define "duelog.poolPart" -}}
{{ include "duelog.asName" (dict "text" (printf "pool-%s" .) "max" 54) }}
{{- end -}}

{{/* The name of the objects of a part. Arguments: the root as `top`, `part`. */}}
{{- define "duelog.partName" -}}
{{ include "duelog.asName" (dict "text" (printf "%s-%s" (include "duelog.name" .top) .part) "max" 63) }}
{{- end -}}

{{- define "duelog.selector" -}}
app.kubernetes.io/name: duelog
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "duelog.labels" -}}
{{ include "duelog.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "duelog.pools" -}}
{{- $names := list -}}
{{- range .Values.pools }}{{ $names = append $names .name }}{{ end -}}
{{- if ne (len ($names | uniq)) (len $names) }}{{ fail "pools: each pool has a name of its own." }}{{ end -}}
{{- join "," $names -}}
{{- end -}}

{{/* The name of the Service that callers use. Certificates have it, and Prometheus expects it of each pod. */}}
{{- define "duelog.serviceName" -}}
{{ include "duelog.name" . }}.{{ .Release.Namespace }}.svc
{{- end -}}

{{/* The label `job` that the ServiceMonitor gives the metrics. The alert rules judge each job that begins with duelog: one for each system. */}}
{{- define "duelog.metricsJob" -}}
{{ printf "duelog-%s-%s" .Release.Namespace .Release.Name }}
{{- end -}}

{{- define "duelog.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "duelog.name" .) "default" .Values.serviceAccount.create) }}
{{- end -}}

{{/* What a Service says of its port, for those that call it, such as an Ingress. */}}
{{- define "duelog.appProtocol" -}}
{{ if .Values.https.secret }}, appProtocol: https{{ end }}
{{- end -}}

{{/* Secrets and files of a part, as JSON. Arguments: the root as `top`, `part`. */}}
{{- define "duelog.filesOf" -}}
{{- $group := ternary "pools" .part (hasPrefix "pool-" .part) -}}
{{- $files := list -}}
{{- $settings := list -}}
{{- range .top.Values.files -}}
{{- if or (not .parts) (has $group .parts) -}}
{{- $files = append $files . -}}
{{- $settings = append $settings .setting -}}
{{- end -}}
{{- end -}}
{{- if ne (len ($settings | uniq)) (len $settings) }}{{ fail (printf "files: the part %s gets a setting twice. `parts` says which parts get which." $group) }}{{ end -}}
{{- if not (has "DUELOG_API_TOKENS" $settings) }}{{ fail (printf "files: the part %s has no DUELOG_API_TOKENS." $group) }}{{ end -}}
{{- toJson $files -}}
{{- end -}}

{{/*
Environment of every process. Arguments: the root as `top`, `part`, the roles, entries of the part as `more`; of pods also `storage`
and `serves`. Entries of the part count more than those of all pods (`env`), and these more than settings and files: each name is there
once, because an upgrade of a list with a name twice may lose both.
Other processes call those of StatefulSets. Their pods have names, which a certificate can have; other pods have only an address.
*/}}
{{- define "duelog.environment" -}}
{{- $https := and .serves .top.Values.https.secret -}}
{{- $ofPart := list }}
{{- range .more }}{{ $ofPart = append $ofPart .name }}{{ end }}
{{- $more := list }}
{{- $names := $ofPart }}
{{- range .top.Values.env }}
{{- if not (has .name $ofPart) }}
{{- $more = append $more . }}
{{- $names = append $names .name }}
{{- end }}
{{- end }}
{{- $more = concat $more (.more | default list) }}
{{- if ne (len ($names | uniq)) (len $names) }}{{ fail (printf "env of the part %s: a name is there twice, or a value of the pool sets it: %s." .part (join ", " $names)) }}{{ end -}}
- name: POD_IP
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
{{- if $https }}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: DUELOG_HTTPS_CERT_FILE
  value: /etc/duelog/https/tls.crt
- name: DUELOG_HTTPS_KEY_FILE
  value: /etc/duelog/https/tls.key
{{- if .top.Values.https.ca }}
- name: DUELOG_HTTPS_CA_FILE
  value: /etc/duelog/https/ca.crt
{{- end }}
{{- end }}
- name: DUELOG_ROLES
  value: {{ .roles | quote }}
- name: DUELOG_HTTP_HOST
  value: {{ ternary "::" "0.0.0.0" (eq .top.Values.ipFamily "IPv6") | quote }}
- name: DUELOG_HTTP_PORT
  value: "8080"
- name: DUELOG_ADVERTISED_URL
  {{- if and $https .storage }}
  value: "https://$(POD_NAME).{{ include "duelog.name" .top }}-pods.{{ .top.Release.Namespace }}.svc:8080"
  {{- else }}
  value: {{ printf "%s://%s:8080" (ternary "https" "http" (not (not $https))) (ternary "[$(POD_IP)]" "$(POD_IP)" (eq .top.Values.ipFamily "IPv6")) | quote }}
  {{- end }}
# A folder of its own in the volume: the process cannot close the volume itself to others, because it belongs to root.
- name: DUELOG_DATA_DIR
  value: /var/lib/duelog/data
{{- if not (has "DUELOG_POOLS" $names) }}
- name: DUELOG_POOLS
  value: {{ include "duelog.pools" .top | quote }}
{{- end }}
{{- range $name, $value := .top.Values.settings }}
{{- if not (has $name $names) }}
- name: {{ $name }}
  {{- /* Helm reads large numbers as fractions. */}}
  value: {{ ternary ($value | int64) $value (kindIs "float64" $value) | toString | quote }}
{{- end }}
{{- end }}
{{- range include "duelog.filesOf" (dict "top" .top "part" .part) | fromJsonArray }}
{{- $name := ternary .setting (printf "%s_FILE" .setting) (hasSuffix "_FILE" .setting) }}
{{- if not (or (has $name $names) (has .setting $names)) }}
- name: {{ $name }}
  value: {{ printf "/etc/duelog/files/%s" .setting }}
{{- end }}
{{- end }}
{{- with $more }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Arguments: the root as `top`, `part`. */}}
{{- define "duelog.filesVolume" -}}
- name: files
  projected:
    defaultMode: 0440
    sources:
      {{- range include "duelog.filesOf" . | fromJsonArray }}
      - secret:
          name: {{ .secret | quote }}
          items: [{ key: {{ .key | quote }}, path: {{ .setting }} }]
      {{- end }}
{{- end -}}

{{/* Argument: the root. */}}
{{- define "duelog.podSecurity" -}}
runAsNonRoot: true
{{- range $key, $id := .Values.runAs }}
{{- if not (kindIs "invalid" $id) }}
{{ $key }}: {{ $id | int64 }}
{{- end }}
{{- end }}
# Volumes of millions of files would otherwise be changed at each start.
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "duelog.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "duelog.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end -}}

{{/*
The pod of a part. Arguments: `top`, `part` (the label of the part), `roles`, `of` (its values), `storage` (whether the data volume
is a claim of its StatefulSet), `image`, `more` (entries of the environment), `graceSeconds`, `pauseSeconds` (before SIGTERM).
*/}}
{{- define "duelog.pod" -}}
metadata:
  labels:
    {{- include "duelog.labels" .top | nindent 4 }}
    app.kubernetes.io/component: {{ .part }}
    {{- with .top.Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with .top.Values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- $https := .top.Values.https.secret }}
{{- $scheme := ternary ", scheme: HTTPS" "" (not (not $https)) }}
spec:
  {{- with .top.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  serviceAccountName: {{ include "duelog.serviceAccount" .top | quote }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .of.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  terminationGracePeriodSeconds: {{ .graceSeconds | default 60 }}
  securityContext: {{- include "duelog.podSecurity" .top | nindent 4 }}
  topologySpreadConstraints:
    {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "duelog.selector" $.top | nindent 10 }}
          app.kubernetes.io/component: {{ $.part }}
    {{- end }}
  {{- with .of.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: duelog
      image: {{ .image | default (include "duelog.image" .top) | quote }}
      imagePullPolicy: {{ .top.Values.image.pullPolicy }}
      ports: [{ name: http, containerPort: 8080 }]
      env: {{- include "duelog.environment" (merge (dict "serves" true) .) | nindent 8 }}
      securityContext: {{- include "duelog.containerSecurity" . | nindent 8 }}
      # The first start reads the partitions from Kafka. It is live meanwhile, but not ready.
      startupProbe: { httpGet: { path: /livez, port: http{{ $scheme }} }, periodSeconds: 2, failureThreshold: 60 }
      livenessProbe: { httpGet: { path: /livez, port: http{{ $scheme }} }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }
      readinessProbe: { httpGet: { path: /readyz, port: http{{ $scheme }} }, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 }
      {{- with .pauseSeconds }}
      # Nodes and the Ingress need a moment to hear that the pod ends. Until then they send it requests, which it answers.
      lifecycle: { preStop: { exec: { command: [sleep, {{ . | toString | quote }}] } } }
      {{- end }}
      {{- with .of.resources }}
      resources: {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - { name: data, mountPath: /var/lib/duelog }
        - { name: tmp, mountPath: /tmp }
        - { name: files, mountPath: /etc/duelog/files, readOnly: true }
        {{- if $https }}
        # The whole folder, because a single file would stay as it is when the Secret changes.
        - { name: https, mountPath: /etc/duelog/https, readOnly: true }
        {{- end }}
        {{- with .of.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- if not .storage }}
    - { name: data, emptyDir: {} }
    {{- end }}
    - { name: tmp, emptyDir: {} }
    {{- include "duelog.filesVolume" . | nindent 4 }}
    {{- with $https }}
    - { name: https, secret: { secretName: {{ . | quote }}, defaultMode: 0440 } }
    {{- end }}
    {{- with .of.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* The claim of a StatefulSet. Argument: its values. */}}
{{- define "duelog.claim" -}}
- metadata: { name: data }
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .storageClass }}
    storageClassName: {{ . | quote }}
    {{- end }}
    resources: { requests: { storage: {{ .storage }} } }
{{- end -}}
