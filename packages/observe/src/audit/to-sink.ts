import { auditFile } from './file.ts'
import type { AuditSink, AuditSinks } from './sink.ts'

/** A sink, sinks per tenant, a function that receives each line, or the path of a file. */
export type AuditSinkInput = AuditSink | AuditSinks | ((line: string) => unknown) | string

/** Returns the sink, or the sinks per tenant. */
export function toSink(input: AuditSinkInput): AuditSink | AuditSinks {
  if (typeof input === 'string') return auditFile(input)
  return typeof input === 'function' ? { append: input } : input
}
