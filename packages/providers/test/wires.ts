import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { Model } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { anthropicEvents, chatEvents, googleEvents, responsesEvents } from './wire-events.ts'

export const apiKey = 'sk-planted-secret-4711'

/** One wire format with the real package that speaks it. */
export interface Wire {
  name: string
  model(url: string): Model
  /** A whole answer as events: reasoning (but for chat), the text `Grüße 🧅`, the call `add({"a":1})`, usage 20 (8 cached) and 7. */
  events: readonly string[]
  /** How many of the events make a whole answer: what follows adds nothing to it. */
  enough: number
  /** An event that tells of an error. */
  error: string
}

export const wires: readonly Wire[] = [
  {
    name: 'openai responses',
    model: (url) => fromAiSdk(createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses('gpt-5')),
    events: responsesEvents,
    enough: responsesEvents.length,
    error: event({
      type: 'error',
      sequence_number: 9,
      error: { type: 'server_error', code: 'server_error', message: 'boom', param: null },
    }),
  },
  {
    name: 'openai chat',
    model: (url) => fromAiSdk(createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat('gpt-4o')),
    events: chatEvents,
    enough: chatEvents.length - 2,
    error: event({ error: { type: 'server_error', code: null, message: 'boom', param: null } }),
  },
  {
    name: 'anthropic',
    model: (url) => fromAiSdk(createAnthropic({ apiKey, baseURL: `${url}/v1` })('claude-sonnet-4-6')),
    events: anthropicEvents,
    enough: anthropicEvents.length,
    error: event({ type: 'error', error: { type: 'overloaded_error', message: 'boom' } }),
  },
  {
    name: 'google',
    model: (url) => fromAiSdk(createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })('gemini-2.5-flash')),
    events: googleEvents,
    enough: googleEvents.length,
    error: event({ error: { code: 503, message: 'boom', status: 'UNAVAILABLE' } }),
  },
]

export function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
