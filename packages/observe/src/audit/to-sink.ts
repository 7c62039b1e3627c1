import { auditFile } from './file.ts'
import type { AuditSink, AuditSinks } from './sink.ts'

/** A sink, sinks per tenant, a function that receives each line, or the path of a file. */
export type AuditSinkInput = AuditSink | AuditSinks | ((line: string) => unknown) | string

/** Returns the sink of each tenant, which may be one for all. */
export function toSinks(input: AuditSinkInput): (tenant: string) => AuditSink {
  if (isPerTenant(input)) return (tenant) => input.chainOf(tenant)
  const sink = toSink(input)
  return () => sink
}

/** Whether each tenant has a chain of its own. */
export function isPerTenant(input: AuditSinkInput): input is AuditSinks {
  return typeof input === 'object' && 'chainOf' in input
}

function toSink(input: Exclude<AuditSinkInput, AuditSinks>): AuditSink {
  if (typeof input === 'string') return auditFile(input)
  return typeof input === 'function' ? { append: input } : input
}
