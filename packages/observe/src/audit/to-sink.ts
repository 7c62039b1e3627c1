import { auditFile } from './file.ts'
import type { AuditSink } from './sink.ts'

/** A sink, what takes each line, or the path of a file. */
export type AuditSinkInput = AuditSink | ((line: string) => unknown) | string

export function toSink(given: AuditSinkInput): AuditSink {
  if (typeof given === 'string') return auditFile(given)
  return typeof given === 'function' ? { append: given } : given
}
