{{/* Secrets that become files below /etc/lineward/keys, each as name of the file, Secret and key. */}}
{{- define "lineward.keyFiles" -}}
{{- $n := .Values.notifications -}}
{{- $files := dict
  "collector-token" .Values.access.collectorToken
  "slack-token" $n.slack.token
  "slack-signing-secret" $n.slack.signingSecret
  "pagerduty-webhook-secret" $n.pagerduty.webhookSecret
  "webhook-secret" $n.webhook.secret -}}
{{- $used := dict -}}
{{- range $file, $secret := $files -}}
{{- if $secret.name }}{{ $_ := set $used $file $secret }}{{ end -}}
{{- end -}}
{{- toYaml $used -}}
{{- end -}}

{{- define "lineward.env" -}}
{{- $env := include "lineward.ownEnv" . | trim -}}
{{- $extra := .Values.embedded.extraEnv -}}
{{- include "lineward.checkExtraEnv" (dict "root" . "path" "embedded.extraEnv" "extra" $extra "env" $env) -}}
{{ $env }}
{{- with $extra }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Variables that the chart sets. */}}
{{- define "lineward.ownEnv" -}}
{{- $keys := include "lineward.keyFiles" . | fromYaml -}}
{{- $variables := dict
  "HOME" "/tmp"
  "LINEWARD_HOST" .Values.embedded.host
  "LINEWARD_DATA_DIR" "/var/lib/lineward/data" -}}
{{- $variables = merge $variables (include "lineward.accessEnv" . | fromYaml) (include "lineward.notificationsEnv" . | fromYaml) -}}
{{- $variables = merge $variables (include "lineward.kubernetesEnv" . | fromYaml) -}}
{{- range $file, $secret := $keys -}}
{{- $_ := set $variables (get (include "lineward.keyVariables" $ | fromYaml) $file) (printf "/etc/lineward/keys/%s" $file) -}}
{{- end -}}
{{- include "lineward.printEnv" (merge $variables (.Values.settings | default dict)) }}
{{- with .Values.catalog.urlSecret }}
{{- if .name }}
- name: LINEWARD_CATALOG_URL
  valueFrom:
    secretKeyRef:
      name: {{ .name }}
      key: {{ .key }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "lineward.volumeMounts" -}}
- name: data
  mountPath: /var/lib/lineward
- name: tmp
  mountPath: /tmp
{{- if include "lineward.policyConfigMap" . }}
- name: policy
  mountPath: /etc/lineward/policy
  readOnly: true
{{- end }}
{{- if include "lineward.keyFiles" . | fromYaml }}
- name: keys
  mountPath: /etc/lineward/keys
  readOnly: true
{{- end }}
{{- if .Values.notifications.pagerduty.keysSecret }}
- name: pagerduty
  mountPath: /etc/lineward/pagerduty
  readOnly: true
{{- end }}
{{- if .Values.kubernetesSource.enabled }}
- name: kubernetes
  mountPath: /var/run/secrets/lineward/kubernetes
  readOnly: true
{{- end }}
- name: passwd
  mountPath: /etc/passwd
  subPath: passwd
  readOnly: true
{{- range $at, $secret := .Values.access.secrets }}
- name: secret-{{ $at }}
  mountPath: /etc/lineward/secrets/{{ $secret }}
  readOnly: true
{{- end }}
{{- with .Values.embedded.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Modes: the group reads. That is fsGroup, and without one group 0, in which OpenShift runs pods. */}}
{{- define "lineward.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: {{ .Values.embedded.tmpSizeLimit }}
{{- with include "lineward.policyConfigMap" . }}
- name: policy
  configMap:
    name: {{ . }}
{{- end }}
{{- with include "lineward.keyFiles" . | fromYaml }}
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
{{- end }}
{{- with .Values.notifications.pagerduty.keysSecret }}
- name: pagerduty
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- include "lineward.kubernetesVolume" . }}
- name: passwd
  emptyDir:
    sizeLimit: 1Mi
{{- range $at, $secret := .Values.access.secrets }}
- name: secret-{{ $at }}
  secret:
    secretName: {{ $secret }}
    defaultMode: 0440
{{- end }}
{{- with .Values.embedded.persistence.existingClaim }}
- name: data
  persistentVolumeClaim:
    claimName: {{ . }}
{{- end }}
{{- with .Values.embedded.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
