import type { ModelWarning } from '@allium/core'

/** A warning of any version: v2 names a setting or a tool, later ones a feature. */
export interface WarningPart {
  type: string
  feature?: string
  setting?: string
  tool?: { name?: string }
  details?: string
  message?: string
}

export function toWarning({ type, feature, setting, tool, details, message = details }: WarningPart): ModelWarning {
  const subject = feature ?? setting ?? tool?.name
  const warning: ModelWarning = { type: type.startsWith('unsupported') ? 'unsupported' : type }
  if (subject !== undefined) warning.feature = subject
  if (message !== undefined) warning.message = message
  return warning
}
