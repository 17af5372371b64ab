{{/* Secrets of a component as files of /etc/lineward/keys: name of the file, Secret, key. Takes root and needs. */}}
{{- define "lineward.scaled.keys" -}}
{{- $v := .root.Values -}}
{{- $n := $v.notifications -}}
{{- $groups := dict
  "token" (dict "collector-token" $v.access.collectorToken)
  "ownSender" (dict "sender-secret" $v.access.senderSecret)
  "catalog" (dict "catalog-password" $v.catalog.passwordSecret)
  "log" (dict "log-client.properties" $v.log.kafka.clientSecret)
  "lake" (dict "lake-access-key" $v.lake.accessKeySecret "lake-secret-key" $v.lake.secretKeySecret)
  "notifications" (dict
    "slack-token" $n.slack.token
    "slack-signing-secret" $n.slack.signingSecret
    "pagerduty-webhook-secret" $n.pagerduty.webhookSecret
    "webhook-secret" $n.webhook.secret)
  "kafka" (dict "kafka-client.properties" $v.kafkaSource.clientSecret)
  "marquez" (dict "marquez-token" $v.marquez.tokenSecret) -}}
{{- $used := dict -}}
{{- range .needs -}}
{{- range $file, $secret := get $groups . | default dict -}}
{{- if $secret.name }}{{ $_ := set $used $file $secret }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $used -}}
{{- end -}}

{{- define "lineward.scaled.keysVolume" -}}
- name: keys
  projected:
    defaultMode: 0440
    sources:
      {{- range $file, $secret := . }}
      - secret:
          name: {{ $secret.name }}
          items:
            - key: {{ $secret.key }}
              path: {{ $file }}
      {{- end }}
{{- end -}}
