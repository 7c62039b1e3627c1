import { layerOptions, misconfigured, option } from '@allium/core'
import type { PassageStore } from '@allium/store'
import type { EmbeddingModel } from '../embed/embedding-model.ts'
import { type RecallLanguage, recallLanguages } from './language.ts'

export interface RecallOptions {
  /** The passages of the store that keeps the sessions: `store.passages`. @default those of the agent's store */
  store?: PassageStore | undefined
  /** `'turn'` recalls before the first model call of each turn, without a tool. @default undefined, the model asks with the tool */
  every?: 'turn' | undefined
  /** Whether the model gets the tool. Pass false if `tools.search` has it as a source, `memory.recalled`. @default true, without `every` */
  tool?: boolean | undefined
  /** The maximum number of passages, up to 100. @default 6 */
  limit?: number | undefined
  /** The maximum length of the recalled text in tokens, with 4 characters for a token. @default 1_500 */
  tokens?: number | undefined
  /**
   * An embedding model of the AI SDK, such as `openai.embeddingModel('text-embedding-3-small')`. It orders the 200 best messages again, which
   * finds other words for the same. Its tokens are charged to the run. @default none, words alone count
   */
  embed?: EmbeddingModel | undefined
  /** The language of the conversations, for stems, stop words and names of months: a code of two letters. @default 'en' */
  language?: RecallLanguage | undefined
  /** The state key with the labels of a conversation, which answers carry. @default 'guard:flow:labels', of `guard.flow` */
  labelsKey?: string | undefined
  /** The tool's name. @default 'recall' */
  name?: string | undefined
  /** The tool description for the model. @default to ask with the words of what it looks for */
  description?: string | undefined
  /** The layer's name. @default 'memory:recall' */
  as?: string | undefined
}

const readOptions = layerOptions<RecallOptions>('memory:recall', {
  store: option.object,
  every: option.oneOf('turn'),
  tool: option.flag,
  limit: option.number({ from: 1, to: 100 }),
  tokens: option.number({ from: 50 }),
  embed: (value) => {
    const found = option.fn((value as Partial<EmbeddingModel> | null)?.doEmbed)
    return found && { ...found, path: '.doEmbed' }
  },
  language: option.oneOf(...recallLanguages),
  labelsKey: option.text,
  name: option.text,
  description: option.text,
})

export type ResolvedRecallOptions = ReturnType<typeof resolveRecallOptions>

/** @throws AlliumError `layer.config` */
export function resolveRecallOptions(given: RecallOptions) {
  const { store, every, embed, ...rest } = readOptions(given)
  const {
    tool = every === undefined,
    limit = 6,
    tokens = 1_500,
    language = 'en',
    labelsKey = 'guard:flow:labels',
    name = 'recall',
    description = defaultDescription,
    as = 'memory:recall',
  } = rest
  if (store !== undefined && !('postings' in store))
    throw misconfigured(as, 'takes store.passages, not the whole store.')
  return { store, every, embed, tool, limit: Math.floor(limit), tokens, language, labelsKey, name, description, as }
}

const defaultDescription =
  'Finds what was said in earlier conversations with this user. Use it when the user refers to something that this conversation does not have. Ask with words that the text probably has: names, things, places, months.'
