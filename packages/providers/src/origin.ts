import type { ProviderMetadata } from '@allium/core'
import type { AiSdkModel } from './ai-sdk-model.ts'

/**
 * Who wrote a part of an answer, by the names in its metadata. A package that has another name than its metadata, or a part without
 * metadata, gets the provider's name as an empty entry.
 */
export class Origin {
  readonly #name: string
  readonly #names: ReadonlySet<string>

  /** `amazon-bedrock` reads `amazonBedrock` and `bedrock`; `vertex.anthropic.messages` reads `vertex` and `anthropic`. */
  constructor({ provider }: Pick<AiSdkModel, 'provider'>) {
    const [first = provider, ...rest] = provider.split('.')
    this.#name = first.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    this.#names = new Set([this.#name, first, ...first.split('-'), ...rest])
  }

  /** Returns a part of a stream with the provider's name, if a later request may need it. */
  sign(part: StreamedPart): StreamedPart {
    const { type, providerMetadata } = part
    if (type === 'finish' || type === 'source' || (providerMetadata === undefined && !isPrivate(part))) return part
    if (providerMetadata !== undefined && this.wrote(providerMetadata)) return part
    return { ...part, providerMetadata: { ...providerMetadata, [this.#name]: {} } }
  }

  /** Whether this provider wrote the part. Nobody knows about a part without a name, so it counts. */
  wrote(metadata: ProviderMetadata | undefined, kind?: string): boolean {
    const names = Object.keys(metadata ?? {})
    if (kind !== undefined) names.push(kind.split('.', 1)[0] as string)
    return names.length === 0 || names.some((name) => this.#names.has(name))
  }
}

/** A part of a stream of the AI SDK. */
export interface StreamedPart {
  type: string
  kind?: string
  providerExecuted?: boolean
  providerMetadata?: ProviderMetadata
}

/** Whether only the provider itself can read a part, also without metadata. */
function isPrivate({ type, providerExecuted }: StreamedPart): boolean {
  return providerExecuted === true || ['reasoning-start', 'reasoning-file', 'custom', 'file'].includes(type)
}
