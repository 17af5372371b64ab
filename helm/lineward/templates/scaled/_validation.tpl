{{/* What scaled mode cannot run without, and values that have no effect in it. */}}
{{- define "lineward.scaled.validate" -}}
{{- $v := .Values -}}
{{- if not $v.catalog.urlSecret.name -}}
{{- fail "catalog.urlSecret.name: mode scaled needs a PostgreSQL: name the Secret with its URL (postgresql+psycopg://USER@HOST:5432/DATABASE)" -}}
{{- end -}}
{{- if not $v.log.kafka.bootstrap -}}
{{- fail "log.kafka.bootstrap: mode scaled needs a Kafka: give HOST:PORT of its brokers" -}}
{{- end -}}
{{- if not $v.lake.url -}}
{{- fail "lake.url: mode scaled needs a bucket: give s3://BUCKET/PREFIX" -}}
{{- end -}}
{{- if ne (not $v.lake.accessKeySecret.name) (not $v.lake.secretKeySecret.name) -}}
{{- fail "lake.secretKeySecret.name: set it together with lake.accessKeySecret.name, or neither with a role of the ServiceAccounts" -}}
{{- end -}}
{{- if and $v.kafkaSource.enabled (not $v.kafkaSource.bootstrap) -}}
{{- fail "kafkaSource.bootstrap: give HOST:PORT of the brokers with the events" -}}
{{- end -}}
{{- if and $v.marquez.enabled (not $v.marquez.url) -}}
{{- fail "marquez.url: give the address of Marquez" -}}
{{- end -}}
{{- if and (or $v.kafkaSource.enabled $v.marquez.enabled) (not $v.access.collectorToken.name) (not $v.access.senderSecret.name) -}}
{{- fail "access.senderSecret.name: collectors know Lineward's own senders by this Secret, or by access.collectorToken" -}}
{{- end -}}
{{- with $v.collector.autoscaling -}}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) -}}
{{- fail "collector.autoscaling.maxReplicas: less than minReplicas" -}}
{{- end -}}
{{- end -}}
{{- if le (int $v.collector.pod.terminationGracePeriodSeconds) (add (int $v.collector.drainSeconds) 50) -}}
{{- fail "collector.pod.terminationGracePeriodSeconds: the collector has 30 s and the shipper 20 s after collector.drainSeconds: give more than their sum" -}}
{{- end -}}
{{- if le (int $v.service.pod.terminationGracePeriodSeconds) (add (int $v.service.preStopSeconds) 10) -}}
{{- fail "service.pod.terminationGracePeriodSeconds: the service has 10 s to finish messages and give its lead up after service.preStopSeconds: give more than their sum" -}}
{{- end -}}
{{- include "lineward.scaled.checkPipelineSize" . -}}
{{- if $v.networkPolicy.enabled -}}
{{- $needed := dict "postgresql" "the database" "kafka" "the brokers" -}}
{{- if $v.kafkaSource.enabled }}{{ $_ := set $needed "kafkaSource" "the brokers with the events" }}{{ end -}}
{{- if $v.marquez.enabled }}{{ $_ := set $needed "marquez" "Marquez" }}{{ end -}}
{{- if ne (include "lineward.scaled.s3Port" .) "443" }}{{ $_ := set $needed "s3" "the S3 server" }}{{ end -}}
{{- range $name, $what := $needed -}}
{{- if not (get $v.networkPolicy.egress $name) -}}
{{- fail (printf "networkPolicy.egress.%s: name %s as peers of a NetworkPolicy, or set networkPolicy.enabled: false" $name $what) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Variables that scaled mode sets, and the value that each comes from. */}}
{{- define "lineward.scaled.reserved" -}}
LINEWARD_LOG: log.kafka
LINEWARD_LOG_CONFIG_FILE: log.kafka.clientSecret
LINEWARD_LOG_PORT: nothing (the port is 8703)
LINEWARD_LOG_COLLECTOR: nothing (the name is the pod's)
LINEWARD_LAKE_URL: lake.url
LINEWARD_LAKE_ENDPOINT: lake.endpoint
LINEWARD_LAKE_REGION: lake.region
LINEWARD_LAKE_ACCESS_KEY_FILE: lake.accessKeySecret
LINEWARD_LAKE_SECRET_KEY_FILE: lake.secretKeySecret
LINEWARD_CATALOG_PASSWORD_FILE: catalog.passwordSecret
LINEWARD_SENDER_SECRET_FILE: access.senderSecret
LINEWARD_REPLICA: nothing (the name is the pod's)
LINEWARD_HEALTH_PORT: nothing (the port is 8704)
LINEWARD_COLLECTOR_URL: nothing (the address is the Service's)
LINEWARD_COLLECTOR_DRAIN_SECONDS: collector.drainSeconds
LINEWARD_PIPELINE_MASTER: pipeline.driver.cores
LINEWARD_PIPELINE_DRIVER_MEMORY: pipeline.driver.memory
LINEWARD_KAFKA_BOOTSTRAP: kafkaSource.bootstrap
LINEWARD_KAFKA_TOPIC: kafkaSource.topic
LINEWARD_KAFKA_GROUP: kafkaSource.group
LINEWARD_KAFKA_CONFIG_FILE: kafkaSource.clientSecret
LINEWARD_MARQUEZ_URL: marquez.url
LINEWARD_MARQUEZ_TOKEN_FILE: marquez.tokenSecret
LINEWARD_MARQUEZ_FORWARD: nothing (events of a Kafka log are not forwarded)
{{- end -}}
