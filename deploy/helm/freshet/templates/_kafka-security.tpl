{{/*
How KEDA connects to Kafka: `metadata` of its triggers, and `env`, parameter of KEDA → variable of the updater.
The same rules as those of packages/config.
*/}}
{{- define "freshet.kafkaSecurity" -}}
{{- $root := . -}}
{{- if not .Values.updater.keda.authentication -}}
{{- range $name := list "KAFKA_SSL_CA_LOCATION" "KAFKA_SSL_CERTIFICATE_LOCATION" "KAFKA_SASL_PASSWORD_FILE" "KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE" -}}
{{- if include "freshet.updaterSetting" (list $root $name "") -}}
{{- fail (printf "%s is a file, which KEDA cannot read. Create a TriggerAuthentication that has its content, and name it in updater.keda.authentication." $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $given := dict -}}
{{- range $name := list "KAFKA_SASL_USERNAME" "KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL" "KAFKA_SASL_OAUTHBEARER_SCOPE" "KAFKA_SASL_OAUTHBEARER_EXTENSIONS" -}}
{{- if or (get $root.Values.secrets $name) (include "freshet.updaterSetting" (list $root $name "")) -}}
{{- $_ := set $given $name true -}}
{{- end -}}
{{- end -}}
{{- $transport := include "freshet.updaterSetting" (list . "KAFKA_TLS" "false") | eq "true" | ternary "SSL" "PLAINTEXT" -}}
{{- $isSasl := or $given.KAFKA_SASL_USERNAME $given.KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL -}}
{{- $guess := empty $isSasl | ternary $transport (printf "SASL_%s" $transport) -}}
{{- $protocol := include "freshet.updaterSetting" (list . "KAFKA_SECURITY_PROTOCOL" $guess) | upper -}}
{{- $mechanism := include "freshet.updaterSetting" (list . "KAFKA_SASL_MECHANISM" "SCRAM-SHA-512") | upper -}}
{{- $metadata := dict -}}
{{- $env := dict -}}
{{- if hasSuffix "SSL" $protocol -}}
{{- $_ := set $metadata "tls" "enable" -}}
{{- end -}}
{{- if hasPrefix "SASL" $protocol -}}
{{- $names := dict "PLAIN" "plaintext" "SCRAM-SHA-256" "scram_sha256" "SCRAM-SHA-512" "scram_sha512" "OAUTHBEARER" "oauthbearer" -}}
{{- $_ := set $metadata "sasl" (get $names $mechanism) -}}
{{- if eq $mechanism "OAUTHBEARER" -}}
{{- $_ := set $env "username" "KAFKA_SASL_OAUTHBEARER_CLIENT_ID" -}}
{{- $_ := set $env "password" "KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET" -}}
{{- $_ := set $env "oauthTokenEndpointUri" "KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL" -}}
{{- if $given.KAFKA_SASL_OAUTHBEARER_SCOPE -}}
{{- $_ := set $env "scopes" "KAFKA_SASL_OAUTHBEARER_SCOPE" -}}
{{- end -}}
{{- if $given.KAFKA_SASL_OAUTHBEARER_EXTENSIONS -}}
{{- $_ := set $env "oauthExtensions" "KAFKA_SASL_OAUTHBEARER_EXTENSIONS" -}}
{{- end -}}
{{- else -}}
{{- $_ := set $env "username" "KAFKA_SASL_USERNAME" -}}
{{- $_ := set $env "password" "KAFKA_SASL_PASSWORD" -}}
{{- end -}}
{{- end -}}
{{- toYaml (dict "metadata" $metadata "env" $env) -}}
{{- end -}}
