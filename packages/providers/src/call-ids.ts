import type { Message } from '@allium/core'
import type { AiSdkModel } from './ai-sdk-model.ts'

/** The tool call ids that APIs take, by provider and model. Others take any. */
const rules: readonly [RegExp, RegExp][] = [
  [/mistral|ministral|magistral|mixtral|codestral|devstral|pixtral/i, /^[a-z0-9]{9}$/i],
  [/anthropic|claude|bedrock/i, /^[\w-]{1,64}$/],
  [/^((openai|azure)\.|aihubmix|helicone)/, /^.{1,40}$/],
]

/**
 * Returns new names for the ids that another model made and this one's API would reject. An id has the same new name in each request,
 * so that prompts stay cached, and no other id has it.
 */
export function renamedIds(
  messages: readonly Message[],
  { provider, modelId }: Pick<AiSdkModel, 'provider' | 'modelId'>,
): Map<string, string> {
  const renamed = new Map<string, string>()
  const rule = rules.find(([api]) => api.test(`${provider} ${modelId}`))?.[1]
  if (rule === undefined) return renamed
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  const taken = new Set(parts.flatMap((part) => ('callId' in part ? [part.callId] : [])))
  for (const id of [...taken].filter((one) => !rule.test(one))) {
    let name = shortHash(id)
    while (taken.has(name)) name = shortHash(`${id} ${name}`)
    taken.add(name)
    renamed.set(id, name)
  }
  return renamed
}

/** Returns nine letters and digits of a FNV-1a hash, which every API takes. */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let at = 0; at < text.length; at++)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n)
  return hash.toString(36).padStart(9, '0').slice(-9)
}
