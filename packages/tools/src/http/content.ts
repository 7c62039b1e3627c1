import { AlliumError, type Part } from '@allium/core'
import type { Answer } from './request.ts'
import { requestRefused } from './request-refused.ts'

interface Told {
  /** Media types that are no text and are given on. */
  readonly files: readonly string[]
  /** Takes secrets out of a text. */
  hide(text: string): string
}

/**
 * What the model gets of an answer: status, place and type, and below them the text as it came.
 * @throws AlliumError `http.status` for a status of 400 or more, `http.refused` for a body that is no text
 */
export function contentOf({ url, status, headers, body }: Answer, { files, hide }: Told): string | Part[] {
  const type = headers['content-type'] ?? ''
  const mediaType = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const head = hide(`${status} ${url.href}${type === '' ? '' : `\ncontent-type: ${type}`}`)
  const text = isText(mediaType) ? hide(decode(body, type)) : undefined
  if (status >= 400) throw failure(status, headers, `${head}\n\n${text?.slice(0, maxErrorText) ?? ''}`.trim())
  if (body.byteLength === 0) return head
  if (text !== undefined) return `${head}\n\n${text}`
  if (!files.some((one) => one === mediaType || (one.endsWith('/*') && mediaType.startsWith(one.slice(0, -1)))))
    throw requestRefused(`${head}\n\nIts body is no text, and is not shown.`)
  return [
    { type: 'text', text: head },
    { type: mediaType.startsWith('image/') ? 'image' : 'file', data: body, mediaType },
  ]
}

/** An error that is thrown is logged too: a page of it will do. */
const maxErrorText = 2_000

/** With its status and Retry-After, so that `tools.retry` knows what to make of it. */
function failure(status: number, headers: Answer['headers'], message: string): AlliumError {
  const responseHeaders = { 'retry-after': headers['retry-after'] }
  return Object.assign(new AlliumError('http.status', message, { expose: true, details: { status } }), {
    status,
    responseHeaders,
  })
}

function isText(mediaType: string): boolean {
  return /^text\/|^application\/(json|xml|javascript|yaml|x-yaml|x-ndjson|x-www-form-urlencoded)$|\+(json|xml)$/.test(
    mediaType,
  )
}

function decode(body: Uint8Array, type: string): string {
  const charset = /charset="?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}
