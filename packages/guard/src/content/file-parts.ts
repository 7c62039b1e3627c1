import type { FilePart, ImagePart, Message, Part } from '@allium/core'
import { bytesOf } from '@allium/core/internal'
import { hasExtension } from '@allium/shared/file-paths'

/** The rules for files in messages. */
export interface PartRules {
  readonly types: readonly string[]
  readonly extensions: readonly string[] | undefined
  readonly maxBytes: number
  readonly maxFiles: number
  readonly urls: 'block' | 'allow'
}

export type Problem = readonly [found: 'count' | 'extension' | 'size' | 'type' | 'url', reason: string]

/** Returns the first problem with the files of a message, counting earlier files; undefined if there is none. */
export async function findProblem(message: Message, rules: PartRules, earlierFiles = 0): Promise<Problem | undefined> {
  const files = filesOf(message.content)
  const count = earlierFiles + files.length
  if (files.length > 0 && count > rules.maxFiles)
    return ['count', `There are too many files: ${count}, with a limit of ${rules.maxFiles}.`]
  for (const file of files) {
    const problem = await findFileProblem(file, rules)
    if (problem !== undefined) return problem
  }
  return undefined
}

type AnyFile = ImagePart | FilePart

/** Returns images and files, including those in tool results. */
export function filesOf(content: string | readonly Part[]): AnyFile[] {
  if (typeof content === 'string') return []
  return content.flatMap((part) => {
    if (part.type === 'image' || part.type === 'file') return [part]
    return part.type === 'tool-result' ? filesOf(part.content) : []
  })
}

async function findFileProblem(file: AnyFile, rules: PartRules): Promise<Problem | undefined> {
  const { maxBytes, types, extensions, urls } = rules
  const filename = 'filename' in file ? file.filename : undefined
  const name = filename === undefined ? `The ${file.type}` : `The file "${filename.slice(0, 100)}"`
  const declared = normalizeType(file.mediaType)
  if (!types.some((type) => matchesType(type, declared)))
    return ['type', `${name} is of the type "${declared.slice(0, 100)}", which is not allowed.`]
  if (filename !== undefined && extensions !== undefined && !hasExtension(filename, extensions))
    return ['extension', `${name} has an extension that is not allowed.`]
  const data = await readBytes(file.data, maxBytes)
  if (data === 'too long') return ['size', `${name} is larger than ${maxBytes} bytes.`]
  if (data === 'not base64') return ['type', `${name} cannot be read.`]
  if (data instanceof URL) {
    const isAllowed = urls === 'allow' && data.protocol === 'https:'
    return isAllowed ? undefined : ['url', `${name} is behind a URL, where it cannot be checked.`]
  }
  return (await matchesDeclaredType(data, declared))
    ? undefined
    : ['type', `${name} does not match its declared type "${declared}".`]
}

async function readBytes(
  data: AnyFile['data'],
  maxBytes: number,
): Promise<Uint8Array | URL | 'too long' | 'not base64'> {
  if (data instanceof Uint8Array) return data.byteLength > maxBytes ? 'too long' : data
  const text = String(data)
  const dataUrl = /^data:[^,]*?(?<base64>;base64)?,/is.exec(text)
  if (dataUrl === null && URL.canParse(text)) return new URL(text)
  const base64 = (dataUrl === null ? text : text.slice(dataUrl[0].length)).replace(/\s/g, '')
  if (dataUrl !== null && dataUrl.groups?.base64 === undefined) return 'not base64'
  if (base64.length * 0.75 - 2 > maxBytes) return 'too long'
  try {
    return bytesOf(base64)
  } catch {
    return 'not base64'
  }
}

/** Whether the content matches its declared type. Text has no signature, so it is recognized by its bytes. */
async function matchesDeclaredType(bytes: Uint8Array, declared: string): Promise<boolean> {
  const { fileTypeFromBuffer } = await import('file-type')
  const detected = normalizeType((await fileTypeFromBuffer(bytes))?.mime ?? '')
  if (detected !== '' && detected === declared) return true
  // Texts can also begin with short signatures such as "BM". The excluded formats are text themselves.
  if (isText(declared)) return isUtf8Text(bytes) && !/^application\/(pdf|rtf|postscript|eps)$/.test(detected)
  return detected === 'application/x-cfb' && legacyOffice.has(declared)
}

/** Word, Excel and PowerPoint before 2007 share a container format. */
const legacyOffice = new Set(['application/msword', 'application/vnd.ms-excel', 'application/vnd.ms-powerpoint'])

function isText(type: string): boolean {
  return /^text\/|^application\/(json|xml|yaml|x-ndjson)$|\+(json|xml)$/.test(type)
}

function isUtf8Text(bytes: Uint8Array): boolean {
  try {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what no text has
    return !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return false
  }
}

/** Returns the type without parameters, under its usual name. */
function normalizeType(type: string): string {
  const plain = String(type).split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return aliases[plain] ?? plain
}

const aliases: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'application/x-zip-compressed': 'application/zip',
}

function matchesType(allowed: string, type: string): boolean {
  return allowed.endsWith('/*') ? type.startsWith(allowed.slice(0, -1)) : normalizeType(allowed) === type
}
