{{- define "lowwater.selector" -}}
app.kubernetes.io/name: lowwater
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "lowwater.labels" -}}
{{ include "lowwater.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* The configuration of the values, with what the chart itself decides. */}}
{{- define "lowwater.config" -}}
{{- $server := dict "host" "0.0.0.0" "port" 8080 "token" "${file:/run/secrets/lowwater/token}" }}
{{- if .Values.ingress.enabled }}
{{- $scheme := ternary "https" "http" (ne .Values.ingress.tlsSecret "") }}
{{- $server = set $server "publicUrl" (printf "%s://%s" $scheme .Values.ingress.host) }}
{{- end }}
{{- $config := merge (dict) .Values.config }}
{{- $config = set $config "server" (merge (dict) (default (dict) .Values.config.server) $server) }}
{{- if .Values.postgres.enabled }}
{{- $postgres := dict "url" "${file:/run/secrets/lowwater/postgres-url}" }}
{{- $config = set $config "storage" (merge (dict) (default (dict) .Values.config.storage) (dict "postgres" $postgres)) }}
{{- $member := dict "node" "${env:POD_NAME}" "advertise" "http://${env:POD_IP}:8080" }}
{{- $config = set $config "cluster" (merge (dict) $member (default (dict) .Values.config.cluster)) }}
{{- end }}
{{- toPrettyJson $config }}
{{- end }}
