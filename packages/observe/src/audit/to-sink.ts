import { auditFile } from './file.ts'
import type { AuditSink, AuditSinks } from './sink.ts'

/** A sink, sinks of tenants, what takes each line, or the path of a file. */
export type AuditSinkInput = AuditSink | AuditSinks | ((line: string) => unknown) | string

/** The sink of each tenant: one for all of them, unless there are more. */
export function toSinks(given: AuditSinkInput): (tenant: string) => AuditSink {
  if (typeof given === 'object' && 'chainOf' in given) return (tenant) => given.chainOf(tenant)
  const sink = toSink(given)
  return () => sink
}

function toSink(given: Exclude<AuditSinkInput, AuditSinks>): AuditSink {
  if (typeof given === 'string') return auditFile(given)
  return typeof given === 'function' ? { append: given } : given
}
