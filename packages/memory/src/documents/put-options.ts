import type { FlowLabels } from '@allium/core'
import { checkOptions, describe, isRecord, type KeysOf } from '@allium/core/internal'
import { invalid } from './documents-options.ts'
import { type DocumentFormat, documentFormats } from './load-text.ts'

/** The tenant whose document it is, or the person in it. */
export interface DocumentOwner {
  readonly tenant: string
  /** The person who alone finds the document. Leave it out for a document of the whole tenant. */
  readonly owner?: string
}

export interface PutOptions extends DocumentOwner {
  /** @default 'text' */
  format?: DocumentFormat | undefined
  /** For citations. @default the title in the text, else the id */
  title?: string | undefined
  /** The address of the document, for citations: `http:` or `https:`. */
  url?: string | undefined
  /** Labels of the text for `guard.flow`. Pass `{}` for text that only your own people can write. @default { untrusted: true } */
  flow?: FlowLabels | undefined
}

const putKeys: KeysOf<PutOptions> = {
  ...{ tenant: true, owner: true, format: true, title: true, url: true, flow: true },
}

/** @throws AlliumError `options.invalid` */
export function checkPut(id: string, text: string, options: PutOptions, maxBytes: number): void {
  checkId(id)
  checkOptions(options, putKeys, 'put()', 'options.invalid')
  checkDocumentOwner('put()', options)
  const { format, title, url, flow } = options
  if (typeof text !== 'string')
    throw invalid(`put() got ${describe(text)} as the text of the document "${id}". Pass a string.`)
  const { byteLength } = new TextEncoder().encode(text)
  if (byteLength > maxBytes)
    throw invalid(
      `The document "${id}" has ${byteLength} bytes, and ${maxBytes} are the maximum. Split it, or raise maxBytes.`,
    )
  if (format !== undefined && !documentFormats.includes(format))
    throw invalid(
      `put() got the format ${describe(format)}. It reads ${documentFormats.join(', ')}: turn others into text first.`,
    )
  if (title !== undefined && (typeof title !== 'string' || title.length > 1_000))
    throw invalid(`put() got the title ${describe(title)}. Pass a text of at most 1,000 characters.`)
  if (url !== undefined && !isWebUrl(url))
    throw invalid(`put() got the url ${describe(url)}. Pass an http: or https: address of at most 2,000 characters.`)
  if (flow !== undefined) checkFlow(flow)
}

/** An owner without a name would make a document of one person one of the whole tenant. @throws AlliumError `options.invalid` */
export function checkDocumentOwner(what: string, of: DocumentOwner): void {
  if (!isRecord(of) || typeof of.tenant !== 'string' || of.tenant === '')
    throw invalid(`${what} needs the tenant of the documents: { tenant: 'acme' }.`)
  if ('owner' in of && (typeof of.owner !== 'string' || of.owner === ''))
    throw invalid(
      `${what} got the owner ${describe(of.owner)}. Pass the user's id, or leave owner out for the whole tenant.`,
    )
}

/** @throws AlliumError `options.invalid` */
export function checkId(id: unknown): void {
  if (typeof id !== 'string' || id === '') throw invalid(`The id of a document is ${describe(id)}. Pass a text.`)
}

function checkFlow(flow: FlowLabels): void {
  const isValid =
    isRecord(flow) && Object.entries(flow).every(([key, on]) => labels.has(key) && typeof on === 'boolean')
  if (!isValid) throw invalid(`put() got the flow ${describe(flow)}. Use { untrusted?: boolean, private?: boolean }.`)
}

const labels = new Set(['untrusted', 'private'])

function isWebUrl(url: unknown): boolean {
  return typeof url === 'string' && url.length <= 2_000 && /^https?:$/.test(protocolOf(url))
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol
  } catch {
    return ''
  }
}
