import { AlliumError, type Part } from '@allium/core'
import type { Answer } from './request.ts'
import { requestRefused } from './request-refused.ts'

interface Told {
  /** Non-text media types that are passed on. */
  readonly files: readonly string[]
  /** Removes secrets from a text. */
  hide(text: string): string
}

/**
 * Returns the model's view of a response: status, URL and type, followed by the text.
 * @throws AlliumError `http.status` for a status of 400 or more, `http.refused` for a body that is not text
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

/** Thrown errors are logged too, so their text is limited to a page. */
const maxErrorText = 2_000

/** Has the status and Retry-After, which `tools.retry` uses. */
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
