import { base64Of, bytesOf } from '@allium/core/internal'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import { blockedProblem } from '../http/problem.ts'
import type { Answer } from '../run/run-handle.ts'

/** A file of an answer, as its chunk has it. */
export interface AnswerFile {
  readonly data: Uint8Array | URL | string
  readonly mediaType: string
}

/** Returns the result of a tool: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result */
export function toToolResult(answer: Answer, files: readonly AnswerFile[]): CallToolResult {
  const { sessionId, status, finishReason, text, reason, code, pending } = answer
  const structured = {
    sessionId,
    status,
    ...(typeof code === 'string' && { code }),
    ...(finishReason && { finishReason }),
  }
  if (status === 'completed' || status === 'stopped') {
    const attached = files.map((file, index) => contentOf(file, `allium:${sessionId}/${index + 1}`))
    const spoken: ContentBlock[] = text === '' && attached.length > 0 ? [] : [{ type: 'text', text }]
    return { content: [...spoken, ...attached], structuredContent: structured }
  }
  if (status === 'suspended') {
    const names = pending.map(({ name }) => name).join(', ')
    return errorResult(`${text}\nA person is to decide first about: ${names}.`.trim(), structured)
  }
  const message = blockedProblem(answer)?.message ?? (typeof reason === 'string' ? reason : `The run was ${status}.`)
  return errorResult(message, structured)
}

export function errorResult(text: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent, isError: true }
}

/** Returns an image or audio, a link to data elsewhere, and any other file as an embedded resource. */
function contentOf({ data, mediaType: mimeType }: AnswerFile, uri: string): ContentBlock {
  const url = urlOf(data)
  if (url?.startsWith('data:')) return contentOf({ data: url.slice(url.indexOf(',') + 1), mediaType: mimeType }, uri)
  if (url !== undefined) return { type: 'resource_link', uri: url, name: url.split('/').at(-1) || url, mimeType }
  const base64 = typeof data === 'string' ? data : base64Of(data as Uint8Array)
  if (/^image\//i.test(mimeType)) return { type: 'image', data: base64, mimeType }
  if (/^audio\//i.test(mimeType)) return { type: 'audio', data: base64, mimeType }
  const isText = /^text\/|[/+](?:json|xml)$/i.test(mimeType)
  const content = isText ? { text: new TextDecoder().decode(bytesOf(base64)) } : { blob: base64 }
  return { type: 'resource', resource: { uri, mimeType, ...content } }
}

function urlOf(data: AnswerFile['data']): string | undefined {
  if (data instanceof URL) return data.href
  return typeof data === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(data) ? data : undefined
}
