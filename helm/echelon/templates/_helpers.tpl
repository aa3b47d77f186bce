{{- define "echelon.fullname" -}}
{{- if contains "echelon" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-echelon" (.Release.Name | trunc 32 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "echelon.labels" -}}
app.kubernetes.io/name: echelon
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Labels that select a component: (dict "root" $ "component" "api") */}}
{{- define "echelon.selector" -}}
app.kubernetes.io/name: echelon
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "echelon.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "echelon.secretName" -}}
{{- .Values.secret.existing | default (printf "%s-secret" (include "echelon.fullname" .)) }}
{{- end }}

{{- define "echelon.raySecretName" -}}
{{- .Values.ray.existingSecret | default (printf "%s-ray" (include "echelon.fullname" .)) }}
{{- end }}

{{- define "echelon.archiveClaim" -}}
{{- .Values.archive.existingClaim | default (printf "%s-archive" (include "echelon.fullname" .)) }}
{{- end }}

{{/* The mount of the archive, or of the bucket's keys. */}}
{{- define "echelon.archiveMount" -}}
{{- if .Values.archive.bucketUrl }}{ name: bucket, mountPath: /etc/echelon/bucket, readOnly: true }{{ else }}{ name: archive, mountPath: /var/lib/echelon/archive }{{ end }}
{{- end }}

{{- define "echelon.archiveVolume" -}}
{{- if .Values.archive.bucketUrl }}{ name: bucket, secret: { secretName: {{ .Values.archive.bucketSecret }}, defaultMode: 0440, items: [{ key: access-key, path: access-key }, { key: secret-key, path: secret-key }] } }{{ else }}{ name: archive, persistentVolumeClaim: { claimName: {{ include "echelon.archiveClaim" . }} } }{{ end }}
{{- end }}

{{- define "echelon.sharedClaim" -}}
{{- .Values.ray.sharedRoot.existingClaim | default (printf "%s-shared" (include "echelon.fullname" .)) }}
{{- end }}

{{- define "echelon.redisUrl" -}}
{{- if .Values.redis.enabled }}redis://{{ include "echelon.fullname" . }}-redis:6379{{ else }}{{ .Values.redis.url }}{{ end }}
{{- end }}

{{/* Pod security "restricted". */}}
{{- define "echelon.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "echelon.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "echelon.environment" -}}
- { name: REDIS_URL, value: {{ include "echelon.redisUrl" . | quote }} }
- { name: REDIS_PASSWORD_FILE, value: /etc/echelon/secret/redis-password }
{{- if .Values.archive.bucketUrl }}
- { name: ECHELON_ARCHIVE_URL, value: {{ .Values.archive.bucketUrl | quote }} }
- { name: ECHELON_ARCHIVE_ACCESS_KEY_FILE, value: /etc/echelon/bucket/access-key }
- { name: ECHELON_ARCHIVE_SECRET_KEY_FILE, value: /etc/echelon/bucket/secret-key }
{{- else }}
- { name: ECHELON_ARCHIVE_DIR, value: /var/lib/echelon/archive }
{{- end }}
- { name: ECHELON_METRICS_HOST, value: "0.0.0.0" }
- { name: ECHELON_METRICS_PORT, value: "9464" }
- { name: ECHELON_LOG_LEVEL, value: {{ .Values.logLevel | quote }} }
{{- end }}

{{/* Replicas apart from one another: (dict "root" $ "component" "api") */}}
{{- define "echelon.affinity" -}}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "echelon.selector" . | nindent 14 }}
{{- end }}
