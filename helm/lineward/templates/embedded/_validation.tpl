{{/* Values that only scaled mode reads: without effect they would be a surprise. */}}
{{- define "lineward.embedded.validate" -}}
{{- $v := .Values -}}
{{- $set := dict
  "log.kafka.bootstrap" $v.log.kafka.bootstrap
  "lake.url" $v.lake.url
  "catalog.passwordSecret.name" $v.catalog.passwordSecret.name
  "access.readerSecret.name" $v.access.readerSecret.name
  "kafkaSource.enabled" $v.kafkaSource.enabled
  "marquez.enabled" $v.marquez.enabled -}}
{{- range $name, $value := $set -}}
{{- if $value -}}
{{- fail (printf "%s: only mode scaled reads it; in mode embedded use `settings`" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
