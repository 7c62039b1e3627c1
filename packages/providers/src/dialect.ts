import { type AiSdkModel, unsupported } from './ai-sdk-model.ts'
import type { FileContent } from './file-content.ts'

/** How one version of the AI SDK's specification differs from the others. */
export interface Dialect {
  /** The type of a tool that the provider runs. */
  providerTool: 'provider-defined' | 'provider'
  /** Returns the `data` of a file in a message. */
  fileData(file: FileContent): unknown
  /** Returns a file in a tool result; undefined if the version cannot express it. */
  resultFile(file: FileContent): Record<string, unknown> | undefined
  /** Whether the call options include a `reasoning` effort. */
  reasoning: boolean
  /** Whether a tool has its own `strict` flag. */
  strict: boolean
  /** Whether messages support provider-specific parts, and files in reasoning. */
  custom: boolean
  /** Whether a provider can request approval for a call that it runs itself. */
  approvals: boolean
}

const v2: Dialect = {
  providerTool: 'provider-defined',
  fileData: rawData,
  resultFile: (file) => ('url' in file ? undefined : { type: 'media', data: file.base64(), mediaType: file.mediaType }),
  reasoning: false,
  strict: false,
  custom: false,
  approvals: false,
}

const v3: Dialect = {
  providerTool: 'provider',
  fileData: rawData,
  resultFile(file) {
    const kind = file.mediaType.startsWith('image/') ? 'image' : 'file'
    if (!('url' in file))
      return { type: `${kind}-data`, data: file.base64(), mediaType: file.mediaType, ...filenameField(file) }
    return { type: `${kind}-url`, url: file.url.href, ...(kind === 'file' && { mediaType: file.mediaType }) }
  },
  reasoning: false,
  strict: true,
  custom: false,
  approvals: true,
}

const v4: Dialect = {
  providerTool: 'provider',
  fileData: taggedData,
  // As text: packages that do not support files in results serialize everything as JSON, and bytes become {"0":1}.
  resultFile: (file) => ({
    type: 'file',
    data: 'url' in file ? taggedData(file) : { type: 'data', data: file.base64() },
    mediaType: file.mediaType,
    ...filenameField(file),
  }),
  reasoning: true,
  strict: true,
  custom: true,
  approvals: true,
}

/** Returns the dialect of a model. Unknown later versions use the newest one. */
export function dialectOf(model: AiSdkModel): Dialect {
  const { specificationVersion = 'v3' } = model
  if (specificationVersion === 'v1')
    throw unsupported(model, 'is of specification v1. Update its package: v2 and later work.')
  if (specificationVersion === 'v2') return v2
  return specificationVersion === 'v3' ? v3 : v4
}

function rawData(file: FileContent): unknown {
  return 'url' in file ? file.url : file.data
}

function taggedData(file: FileContent): unknown {
  return 'url' in file ? { type: 'url', url: file.url } : { type: 'data', data: file.data }
}

function filenameField({ filename }: FileContent): { filename?: string } {
  return filename === undefined ? {} : { filename }
}
