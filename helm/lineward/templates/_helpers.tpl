{{- define "lineward.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Name of the release's objects, as long as the values make it. */}}
{{- define "lineward.wholeName" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains (include "lineward.name" .) .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "lineward.name" .) -}}
{{- end -}}
{{- end -}}

{{/* Names of pods and Services end in -collector, -headless and -0, and have 63 characters. */}}
{{- define "lineward.fullname" -}}
{{- include "lineward.wholeName" . | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Beginning of names in a namespace. Namespaces of others may have objects of another release of the same name. Takes root and namespace. */}}
{{- define "lineward.nameIn" -}}
{{- include "lineward.fullname" .root -}}
{{- if ne (.namespace | default .root.Release.Namespace) .root.Release.Namespace }}-{{ .root.Release.Namespace }}{{ end -}}
{{- end -}}

{{- define "lineward.selector" -}}
app.kubernetes.io/name: {{ include "lineward.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels by which Services and NetworkPolicies find the pod that has a role: all in one, embedded. */}}
{{- define "lineward.podSelector" -}}
{{ include "lineward.selector" . }}
app.kubernetes.io/component: embedded
{{- end -}}

{{- define "lineward.labels" -}}
{{ include "lineward.selector" . }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: lineward
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* Metadata of an object. Takes root, name, and, as needed: component, labels, annotations, namespace. */}}
{{- define "lineward.metadata" -}}
{{- $labels := include "lineward.labels" .root | fromYaml -}}
{{- with .component }}{{ $_ := set $labels "app.kubernetes.io/component" . }}{{ end -}}
metadata:
  name: {{ .name }}
  namespace: {{ .namespace | default .root.Release.Namespace }}
  labels:
    {{- toYaml (merge $labels (.labels | default dict) (.root.Values.commonLabels | default dict)) | nindent 4 }}
  {{- with merge (dict) (.annotations | default dict) (.root.Values.commonAnnotations | default dict) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "lineward.image" -}}
{{- $path := .Values.image.repository -}}
{{- with .Values.image.registry | default (.Values.global | default dict).imageRegistry }}{{ $path = printf "%s/%s" . $path }}{{ end -}}
{{- if .Values.image.digest -}}
{{ $path }}@{{ .Values.image.digest }}
{{- else -}}
{{ $path }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Names of Secrets with credentials of the registry, also those of a parent chart, as a YAML list. */}}
{{- define "lineward.pullSecrets" -}}
{{- $names := list -}}
{{- range concat (.Values.image.pullSecrets | default list) ((.Values.global | default dict).imagePullSecrets | default list) -}}
{{- if kindIs "map" . }}{{ $names = append $names .name }}{{ else }}{{ $names = append $names . }}{{ end -}}
{{- end -}}
{{- uniq $names | toJson -}}
{{- end -}}

{{- define "lineward.imagePullSecrets" -}}
{{- with include "lineward.pullSecrets" . | fromYamlArray -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "lineward.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "lineward.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{- define "lineward.policyConfigMap" -}}
{{- if .Values.policy.inline -}}
{{ include "lineward.fullname" . }}-policy
{{- else -}}
{{ .Values.policy.existingConfigMap }}
{{- end -}}
{{- end -}}

{{/* Addresses inside the cluster. */}}
{{- define "lineward.collectorUrl" -}}
http://{{ include "lineward.fullname" . }}-collector.{{ .Release.Namespace }}.svc:8700
{{- end -}}
{{- define "lineward.apiUrl" -}}
http://{{ include "lineward.fullname" . }}.{{ .Release.Namespace }}.svc:8701
{{- end -}}

{{/* Address of the listener's jar, for drivers. */}}
{{- define "lineward.jarUrl" -}}
{{- .Values.listener.jarUrl | default (printf "%s/listener/openlineage-spark_%s.jar" (include "lineward.apiUrl" .) .Values.listener.scala) -}}
{{- end -}}

{{/* Options of `lineward render spark-conf --kubernetes` for this release. The URL of the jar names the version of Scala. */}}
{{- define "lineward.sparkConfOptions" -}}
--collector-url {{ include "lineward.collectorUrl" . }} --jar-url {{ include "lineward.jarUrl" . }} --namespace {{ .Values.listener.namespace }}
{{- with .Values.listener.eventLogDir }} --event-log-dir {{ . }}{{ end }}
{{- end -}}

{{/* Type of a Service that others reach. Takes its values. */}}
{{- define "lineward.exposed" -}}
type: {{ .type }}
{{- if eq .type "LoadBalancer" }}
{{- with .loadBalancerClass }}
loadBalancerClass: {{ . }}
{{- end }}
{{- with .loadBalancerSourceRanges }}
loadBalancerSourceRanges: {{ toJson . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* IP families of a Service, which are the cluster's unless values name them. */}}
{{- define "lineward.families" -}}
{{- with .Values.services.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.services.ipFamilies }}
ipFamilies: {{ toJson . }}
{{- end }}
{{- end -}}

{{/* Protocol of a Service that others reach. Not for a load balancer: that of Azure would then ask `/` for the health, without a token. */}}
{{- define "lineward.appProtocol" -}}
{{- if ne .type "LoadBalancer" }}appProtocol: http{{ end -}}
{{- end -}}

{{/* The cluster autoscaler removes no node with a pod that has an emptyDir, but for these, which hold nothing to keep. Takes their names. */}}
{{- define "lineward.evictable" -}}
cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: {{ join "," . | quote }}
{{- end -}}

{{/* A policy sees the port of the pod behind the Service, which is 5353 on OpenShift. */}}
{{- define "lineward.dnsPorts" -}}
{{- range $at, $port := list 53 5353 }}
- port: {{ $port }}
  protocol: UDP
- port: {{ $port }}
  protocol: TCP
{{- end }}
{{- end -}}

{{/* Address of the pages as people reach them. */}}
{{- define "lineward.publicUrl" -}}
{{- if .Values.notifications.publicUrl -}}
{{ .Values.notifications.publicUrl | trimSuffix "/" }}
{{- else if .Values.ingress.enabled -}}
{{ ternary "https" "http" (or .Values.ingress.tls (ne .Values.ingress.tlsSecret "")) }}://{{ .Values.ingress.host }}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.hostnames -}}
https://{{ first .Values.httpRoute.hostnames }}
{{- else -}}
{{ include "lineward.apiUrl" . }}
{{- end -}}
{{- end -}}

{{/* A file of the chart, with the addresses of this release in place of those it was rendered with. */}}
{{- define "lineward.file" -}}
{{- .text | replace "http://api.lineward.invalid" (include "lineward.publicUrl" .root) -}}
{{- end -}}
