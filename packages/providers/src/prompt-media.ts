import type { FilePart, ImagePart, ModelWarning, Part, TextPart } from '@allium/core'
import { type AiSdkModel, providerName } from './ai-sdk-model.ts'
import { acceptsUrl, type FileContent, fileContent, fileText, placeholder } from './file-content.ts'
import type { PromptMedia } from './prompt-context.ts'

type AnyFile = ImagePart | FilePart

/**
 * The media types that packages pass on in tool results, by provider. Every other package has only text there: it would send a file as
 * base64 text or leave it out.
 */
const inResults: readonly (readonly [provider: RegExp, types: RegExp])[] = [
  [/^google/, /^(image|audio|video)\/|\/pdf$/],
  [/bedrock$/, /^image\/(png|jpeg|gif|webp)$|\/(pdf|msword|vnd\.(ms-excel|openxmlformats-.+\.(document|sheet)))$/],
  [/anthropic|\.messages$|^openrouter$|^openai$|^(?!xai|ollama|huggingface).+\.responses$/, /^image\/|\/pdf$/],
]

/** The files in messages that packages leave out without an error, or send in a form that no model can read. */
const lostInMessages: readonly (readonly [provider: RegExp, types: RegExp])[] = [
  [/^databricks/, /./],
  [/^(ollama|deepseek\.chat|cohere\.chat|helicone)$/, /^(?!image\/)/],
]

/**
 * Decides what becomes of the files of a prompt. Text files in tool results become text. An image that a result cannot hold moves to
 * a user message after the results. A note replaces any other file that the package cannot send, with a warning.
 */
export function promptMedia(
  model: AiSdkModel,
  urls: Parameters<typeof acceptsUrl>[0],
  warnings: ModelWarning[],
): PromptMedia {
  // The gateway passes a prompt on to the package of the provider that is in the model's id.
  const provider = model.provider === 'gateway' ? (model.modelId.split('/', 1)[0] as string) : model.provider
  const resultTypes = typesFor(provider, inResults)
  const lostTypes = typesFor(provider, lostInMessages)
  const moved: ImagePart[] = []

  function resultPart(part: Part): Part {
    if (part.type !== 'image' && part.type !== 'file') return part
    const file = fileContent(part)
    if ('url' in file && !fetches(file.url, part)) return placeholder(file)
    const content = fileText(file)
    if (content !== undefined) return text(content)
    if (resultTypes?.test(part.mediaType)) return part
    if (part.type === 'file' || resultTypes !== undefined || isLost(part)) return note(file, 'in the result of a tool')
    return text(`[${part.mediaType}: image ${moved.push(part)} of the next message]`)
  }

  /** Never for Google, whose packages download the URLs in tool results from inside this process. */
  function fetches(url: URL, { mediaType }: AnyFile): boolean {
    return providerName(model) !== 'google' && acceptsUrl(urls, url, mediaType)
  }

  function isLost({ mediaType }: AnyFile): boolean {
    return lostTypes?.test(mediaType) === true
  }

  function note({ mediaType, filename }: FileContent, place: string): TextPart {
    const file = filename === undefined ? mediaType : `${filename}, ${mediaType}`
    const message = `A file (${file}) was not sent, because ${model.provider} cannot take it ${place}.`
    if (!warnings.some((warning) => warning.message === message))
      warnings.push({ type: 'unsupported', feature: 'file', message })
    return text(`[${file}: a file that this model cannot get ${place}]`)
  }

  return {
    joinsTexts: resultTypes === undefined || provider.startsWith('google'),
    result: (parts) => parts.map(resultPart),
    message(part) {
      if (!isLost(part)) return part
      const file = fileContent(part)
      const content = fileText(file)
      return content === undefined ? note(file, 'in a message') : text(content)
    },
    takeMoved: () => moved.splice(0),
  }
}

function typesFor(provider: string, rules: typeof inResults): RegExp | undefined {
  return rules.find(([name]) => name.test(provider))?.[1]
}

function text(content: string): TextPart {
  return { type: 'text', text: content }
}
