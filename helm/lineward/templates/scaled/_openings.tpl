{{/* Egress rules by name, as a YAML list. Takes root and names. A rule with an empty list of peers would
admit everybody, so it is left out. */}}
{{- define "lineward.scaled.egress" -}}
{{- $root := .root -}}
{{- $out := .root.Values.networkPolicy.egress -}}
{{- $ports := include "lineward.scaled.ports" .root | fromYaml -}}
{{- range .names }}
{{- with get $out . }}
- to:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- if get $out . }}
  ports:
    {{- toYaml (get $ports .) | nindent 4 }}
{{- end }}
{{- end }}
{{- range $component, $componentPorts := .components }}
- to:
    - podSelector:
        matchLabels:
          {{- include "lineward.scaled.selector" (dict "root" $root "component" $component) | nindent 10 }}
  ports:
    {{- range $componentPorts }}
    - port: {{ . }}
    {{- end }}
{{- end }}
{{- with $out.extra }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Ports of each opening. Those of Kafka and S3 are in the addresses. */}}
{{- define "lineward.scaled.ports" -}}
dns:
  {{- include "lineward.dnsPorts" . | trim | nindent 2 }}
https: [{port: 443}]
postgresql: [{port: {{ .Values.catalog.port }}}]
# A policy sees the port behind the Service, which is 6443 in most clusters.
apiServer: [{port: 443}, {port: 6443}]
kafka: {{ include "lineward.scaled.kafkaPorts" .Values.log.kafka.bootstrap }}
kafkaSource: {{ include "lineward.scaled.kafkaPorts" .Values.kafkaSource.bootstrap }}
marquez: [{port: {{ include "lineward.scaled.urlPort" .Values.marquez.url }}}]
s3: [{port: {{ include "lineward.scaled.s3Port" . }}}]
{{- end -}}

{{- define "lineward.scaled.kafkaPorts" -}}
{{- $ports := list -}}
{{- range splitList "," . -}}
{{- if contains ":" . }}{{ $ports = append $ports (dict "port" (splitList ":" . | last | int)) }}{{ end -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{- define "lineward.scaled.s3Port" -}}
{{- include "lineward.scaled.urlPort" (.Values.lake.endpoint | default "https://s3") -}}
{{- end -}}

{{/* Port of a URL, or that of its scheme. */}}
{{- define "lineward.scaled.urlPort" -}}
{{- $host := (urlParse .).host -}}
{{- if regexMatch ":[0-9]+$" $host -}}
{{- splitList ":" $host | last -}}
{{- else -}}
{{- ternary 80 443 (hasPrefix "http://" .) -}}
{{- end -}}
{{- end -}}

{{/* An ingress rule. Takes from (peers) and ports. */}}
{{- define "lineward.scaled.ingress" -}}
- from:
    {{- toYaml .from | nindent 4 }}
  ports:
    {{- range .ports }}
    - port: {{ . }}
    {{- end }}
{{- end -}}

{{/* Pods of a component as a peer. */}}
{{- define "lineward.scaled.peer" -}}
podSelector:
  matchLabels:
    {{- include "lineward.scaled.selector" . | nindent 4 }}
{{- end -}}

{{- define "lineward.scaled.policy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
{{ include "lineward.metadata" (dict "root" .root "name" (printf "%s-%s" (include "lineward.fullname" .root) .component) "component" .component) }}
spec:
  podSelector:
    matchLabels:
      {{- include "lineward.scaled.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- range .ingress }}
    {{- if .from }}
    {{- include "lineward.scaled.ingress" . | nindent 4 }}
    {{- end }}
    {{- end }}
  egress:
    {{- include "lineward.scaled.egress" (dict "root" .root "names" .egress "components" (.components | default dict)) | trim | nindent 4 }}
{{- end -}}
