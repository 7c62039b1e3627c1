/** A JSON object of a request. */
export interface Json {
  [key: string]: unknown
}

/** One event of an answer, as it goes over the wire. */
export type WireEvent = string | Uint8Array

/** An answer of the model, before a format writes it. */
export interface Answer {
  reasoning?: string
  text?: string
  calls?: readonly Call[]
  /** The finish reason in the words of the format. @default the one for text, or for calls */
  finish?: string
}
export interface Call {
  id: string
  name: string
  /** The arguments as JSON text. */
  args: string
}

/** Tokens of every answer: 20 in, 8 of them cached, and 7 out, 3 of them for reasoning. */
export const usage = { input: 20, cached: 8, output: 7, reasoning: 3 }

/** An error that a provider sends in a stream with status 200. Its message is `boom`. */
export interface ErrorEvent {
  form: string
  event: WireEvent
  /** Whether the event tells which HTTP status fits. */
  status: boolean
}

/** A finish reason of a provider, with what an agent is to make of it. */
export interface Finish {
  raw: string
  /** `failed` is an error that a retry can cure, `refused` one that it cannot. */
  means: 'stop' | 'length' | 'content-filter' | 'failed' | 'refused'
}

/** A wire format: the rules for its requests, and how it writes an answer. */
export interface Format {
  name: string
  /** The public description that the module was written from, and the day it was read. */
  source: { url: string; read: string }
  /** Whose parts it takes back: the key of the metadata that its packages read. */
  family?: string
  contentType: string
  /** Returns what the provider would answer with status 400. */
  problems(body: Json, path: string): string[]
  events(answer: Answer): WireEvent[]
  /** How many of the last events add nothing to a whole answer. */
  tail: number
  errors: readonly ErrorEvent[]
  finishes: readonly Finish[]
  /** The body of an answer with an error status. */
  failure(status: number, message: string): object
  /** Whether answers have reasoning. */
  reasoning: boolean
  /** What a request has if it sends the signed reasoning of an answer back; absent if the provider signs none. */
  signature?: RegExp
  /** Returns an id of a tool call as the provider makes them; absent if its calls have none. */
  callId?: (n: number) => string
  /** An id with other characters, which servers of this format are seen to send. */
  oddId?: string
  /** Whether usage has cached and reasoning tokens. */
  counts: { cached: boolean; reasoning: boolean }
}
