{{/* Variables of a component as a YAML map. Takes root, needs and more (a map that counts first). */}}
{{- define "lineward.scaled.variables" -}}
{{- $v := .root.Values -}}
{{- $all := dict "HOME" "/tmp" "LINEWARD_HOST" $v.host "LINEWARD_DATA_DIR" "/var/lib/lineward/data" -}}
{{- $all = merge (dict) .more $all -}}
{{- range $file, $_secret := include "lineward.scaled.keys" . | fromYaml -}}
{{- $_ := set $all (get (include "lineward.keyVariables" $.root | fromYaml) $file) (printf "/etc/lineward/keys/%s" $file) -}}
{{- end -}}
{{- range .needs -}}
{{- $all = merge $all (include (printf "lineward.scaled.%sEnv" .) $.root | fromYaml) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{- define "lineward.scaled.accessEnv" -}}
{{ include "lineward.accessEnv" . }}
{{- end -}}

{{/* Collectors have no policy. */}}
{{- define "lineward.scaled.tokenEnv" -}}
{{- if .Values.access.insecure }}
LINEWARD_INSECURE: "true"
{{- end }}
{{- end -}}

{{- define "lineward.scaled.ownSenderEnv" -}}{{- end -}}
{{- define "lineward.scaled.catalogEnv" -}}{{- end -}}

{{- define "lineward.scaled.logEnv" -}}
LINEWARD_LOG: kafka://{{ .Values.log.kafka.bootstrap }}/{{ .Values.log.kafka.topic }}
{{- end -}}

{{/* Of a role that knows of the log, and does not open it. */}}
{{- define "lineward.scaled.logAddressEnv" -}}
{{ include "lineward.scaled.logEnv" . }}
{{- end -}}

{{- define "lineward.scaled.lakeEnv" -}}
LINEWARD_LAKE_URL: {{ .Values.lake.url }}
{{- with .Values.lake.endpoint }}
LINEWARD_LAKE_ENDPOINT: {{ . }}
{{- end }}
{{- with .Values.lake.region }}
LINEWARD_LAKE_REGION: {{ . }}
{{- end }}
{{- end -}}

{{- define "lineward.scaled.notificationsEnv" -}}
{{ include "lineward.notificationsEnv" . }}
{{- end -}}

{{- define "lineward.scaled.kubernetesEnv" -}}
{{ include "lineward.kubernetesEnv" . }}
{{- end -}}

{{/* Of a role that posts events to the collectors. */}}
{{- define "lineward.scaled.posterEnv" -}}
LINEWARD_COLLECTOR_URL: {{ include "lineward.collectorUrl" . }}
{{- end -}}

{{- define "lineward.scaled.healthEnv" -}}
LINEWARD_HEALTH_PORT: "8704"
{{- end -}}

{{- define "lineward.scaled.kafkaEnv" -}}
LINEWARD_KAFKA_BOOTSTRAP: {{ .Values.kafkaSource.bootstrap }}
LINEWARD_KAFKA_TOPIC: {{ .Values.kafkaSource.topic }}
LINEWARD_KAFKA_GROUP: {{ .Values.kafkaSource.group }}
{{- end -}}

{{- define "lineward.scaled.marquezEnv" -}}
LINEWARD_MARQUEZ_URL: {{ .Values.marquez.url }}
# Events of a Kafka log are not forwarded.
LINEWARD_MARQUEZ_FORWARD: "false"
{{- end -}}

{{/* The `env` of a container. Takes root, pod, component, needs and more. */}}
{{- define "lineward.scaled.env" -}}
{{- $env := include "lineward.scaled.ownEnv" . | trim -}}
{{- $path := printf "%s.extraEnv" (get (include "lineward.scaled.podValues" . | fromYaml) .component) -}}
{{- include "lineward.checkExtraEnv" (dict "root" .root "path" $path "extra" .pod.extraEnv "env" $env) -}}
{{ $env }}
{{- with .pod.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Where the values of each component's pod are. */}}
{{- define "lineward.scaled.podValues" -}}
collector: collector.pod
service: service.pod
pipeline: pipeline.pod
executor: pipeline.executor.pod
kafka: kafkaSource.pod
marquez: marquez.pod
kubernetes: kubernetesSource.pod
{{- end -}}

{{/* Variables that the chart sets. */}}
{{- define "lineward.scaled.ownEnv" -}}
{{- $variables := include "lineward.scaled.variables" . | fromYaml -}}
{{- include "lineward.printEnv" (merge $variables (.root.Values.settings | default dict)) }}
{{- if has "catalog" .needs }}
- name: LINEWARD_CATALOG_URL
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.catalog.urlSecret.name }}
      key: {{ .root.Values.catalog.urlSecret.key }}
{{- end }}
{{- if has "name" .needs }}
- name: LINEWARD_REPLICA
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end }}
{{- end -}}
{{- define "lineward.scaled.nameEnv" -}}{{- end -}}
