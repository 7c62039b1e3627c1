import { messageOf } from '@allium/core'
import { type Span, SpanStatusCode } from '@opentelemetry/api'
import { errorType } from '../error-type.ts'
import { attributesOf } from './conventions.ts'
import type { Conventions } from './names.ts'

/** Records an error in a span. Its message is content. */
export function setSpanError(
  span: Span,
  error: unknown,
  { conventions, content }: { readonly conventions: Conventions; readonly content: boolean },
): void {
  span.setAttributes(attributesOf(conventions, ['errorType'], { errorType: errorType(error) }))
  span.setStatus({ code: SpanStatusCode.ERROR, ...(content && { message: messageOf(error) }) })
}
