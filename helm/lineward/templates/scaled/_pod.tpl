{{- define "lineward.scaled.selector" -}}
{{ include "lineward.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Mounts of a component's container. Takes root, pod and needs. */}}
{{- define "lineward.scaled.mounts" -}}
- name: data
  mountPath: /var/lib/lineward
- name: tmp
  mountPath: /tmp
- name: passwd
  mountPath: /etc/passwd
  subPath: passwd
  readOnly: true
{{- if include "lineward.scaled.keys" . | fromYaml }}
- name: keys
  mountPath: /etc/lineward/keys
  readOnly: true
{{- end }}
{{- if has "access" .needs }}
{{- if include "lineward.policyConfigMap" .root }}
- name: policy
  mountPath: /etc/lineward/policy
  readOnly: true
{{- end }}
{{- range $at, $secret := .root.Values.access.secrets }}
- name: secret-{{ $at }}
  mountPath: /etc/lineward/secrets/{{ $secret }}
  readOnly: true
{{- end }}
{{- end }}
{{- if and (has "notifications" .needs) .root.Values.notifications.pagerduty.keysSecret }}
- name: pagerduty
  mountPath: /etc/lineward/pagerduty
  readOnly: true
{{- end }}
{{- if and (has "kubernetes" .needs) .root.Values.kubernetesSource.enabled }}
- name: kubernetes
  mountPath: /var/run/secrets/lineward/kubernetes
  readOnly: true
{{- end }}
{{- with .pod.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Volumes of a component's pod. Takes root, pod, needs and claim (whether `data` is a claim). */}}
{{- define "lineward.scaled.volumes" -}}
{{- if not .claim }}
- name: data
  emptyDir:
    sizeLimit: {{ .pod.dataSizeLimit | default "1Gi" }}
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: {{ .pod.tmpSizeLimit }}
- name: passwd
  emptyDir:
    sizeLimit: 1Mi
{{- with include "lineward.scaled.keys" . | fromYaml }}
{{ include "lineward.scaled.keysVolume" . }}
{{- end }}
{{- if has "access" .needs }}
{{- with include "lineward.policyConfigMap" .root }}
- name: policy
  configMap:
    name: {{ . }}
{{- end }}
{{- range $at, $secret := .root.Values.access.secrets }}
- name: secret-{{ $at }}
  secret:
    secretName: {{ $secret }}
    defaultMode: 0440
{{- end }}
{{- end }}
{{- if has "notifications" .needs }}
{{- with .root.Values.notifications.pagerduty.keysSecret }}
- name: pagerduty
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end }}
{{- if has "kubernetes" .needs }}
{{- include "lineward.kubernetesVolume" .root }}
{{- end }}
{{- with .pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What each container has. Takes root, pod, needs, more, name, args and, as needed, resources. */}}
{{- define "lineward.scaled.container" -}}
name: {{ .name }}
image: {{ include "lineward.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with .args }}
args: {{ toJson . }}
{{- end }}
env:
  {{- include "lineward.scaled.env" . | trim | nindent 2 }}
{{- with .pod.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .pod.containerSecurityContext | nindent 2 }}
volumeMounts:
  {{- include "lineward.scaled.mounts" . | nindent 2 }}
{{- end -}}

{{/* Writes the passwd file: Spark does not start as a user without a name, and a cluster may choose any uid. */}}
{{- define "lineward.scaled.passwd" -}}
name: passwd
image: {{ include "lineward.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [passwd, /passwd/passwd]
resources:
  requests:
    cpu: 50m
    memory: 64Mi
  limits:
    memory: 256Mi
securityContext:
  {{- toYaml .pod.containerSecurityContext | nindent 2 }}
volumeMounts:
  - name: passwd
    mountPath: /passwd
  - name: tmp
    mountPath: /tmp
{{- end -}}

{{/*
A pod template. Takes root, pod, component, account, needs, container (YAML) and, as needed:
sidecars (YAML, init containers that stay), claim, token (whether the API's token is mounted), spark (whether
Spark makes the pod, and adds a volume for its shuffle files).
*/}}
{{- define "lineward.scaled.template" -}}
{{- $root := .root -}}
{{- $selector := include "lineward.scaled.selector" . | fromYaml -}}
metadata:
  labels:
    {{- toYaml (merge (dict) $selector (.pod.labels | default dict) ($root.Values.commonLabels | default dict)) | nindent 4 }}
  annotations:
    {{- $volumes := list "tmp" "passwd" }}
    {{- if not .claim }}{{ $volumes = prepend $volumes "data" }}{{ end }}
    {{- if .spark }}{{ $volumes = append $volumes "spark-local-dir-1" }}{{ end }}
    {{- toYaml (merge (dict) (.pod.annotations | default dict) (include "lineward.evictable" $volumes | fromYaml)) | nindent 4 }}
spec:
  serviceAccountName: {{ .account }}
  automountServiceAccountToken: {{ .token | default false }}
  # A Service of this name would set variables like LINEWARD_SERVICE_PORT, which are settings.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .pod.terminationGracePeriodSeconds }}
  {{- with include "lineward.imagePullSecrets" $root }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .pod.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .pod.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .pod.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .pod.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- with .pod.topologySpreadConstraints }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- toYaml $selector | nindent 10 }}
    {{- end }}
    {{- end }}
  securityContext:
    {{- toYaml .pod.securityContext | nindent 4 }}
  initContainers:
    -
      {{- include "lineward.scaled.passwd" . | nindent 6 }}
    {{- with .sidecars }}
    {{- . | nindent 4 }}
    {{- end }}
  containers:
    -
      {{- .container | nindent 6 }}
    {{- with .pod.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "lineward.scaled.volumes" . | trim | nindent 4 }}
{{- end -}}
