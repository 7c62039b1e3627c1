import type { Message } from '@allium/core'
import type { AiSdkModel } from './ai-sdk-model.ts'

/** The tool call ids that APIs take, by provider and model. Others take any. */
const rules: readonly [RegExp, RegExp][] = [
  [/mistral|ministral|magistral|mixtral|codestral|devstral|pixtral/i, /^[a-z0-9]{9}$/i],
  [/anthropic|claude|bedrock/i, /^[\w-]{1,64}$/],
  [/^(openai|azure)\./, /^.{1,40}$/],
]

/**
 * Returns a function that renames the ids that another model made and this one's API would reject. An id has the same new name in each
 * request, so that prompts stay cached.
 */
export function callIdsFor(
  messages: readonly Message[],
  { provider, modelId }: Pick<AiSdkModel, 'provider' | 'modelId'>,
): ((callId: string) => string) | undefined {
  const rule = rules.find(([api]) => api.test(`${provider} ${modelId}`))?.[1]
  if (rule === undefined) return undefined
  const ids = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => ('callId' in part ? [part.callId] : [])),
  )
  const taken = new Set(ids.filter((id) => rule.test(id)))
  const renamed = new Map<string, string>()
  for (const id of ids) if (!rule.test(id) && !renamed.has(id)) renamed.set(id, freeName(id, taken))
  return (callId) => renamed.get(callId) ?? callId
}

/** Takes a name that no other id has. */
function freeName(id: string, taken: Set<string>): string {
  let name = shortHash(id)
  while (taken.has(name)) name = shortHash(`${id} ${name}`)
  taken.add(name)
  return name
}

/** Returns nine letters and digits of a FNV-1a hash, which every API takes. */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let at = 0; at < text.length; at++)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n)
  return hash.toString(36).padStart(9, '0').slice(-9)
}
