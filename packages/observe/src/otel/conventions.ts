import type { Attributes, AttributeValue } from '@opentelemetry/api'
import { type AttributeKey, type Conventions, latest, v145 } from './names.ts'

/** Attributes by their key in the tables. What the chosen table has no row for is left out. */
export type Values = { readonly [Key in AttributeKey]?: AttributeValue | undefined }

const tables = { latest, '1.45': v145 } satisfies Record<string, Conventions>

/**
 * A version of OpenTelemetry's conventions for generative AI: the newest, or the names of `@opentelemetry/semantic-conventions` 1.45.0, for
 * tools that lag behind.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai
 */
export type ConventionNames = keyof typeof tables

export const conventionNames = Object.keys(tables) as ConventionNames[]

export function conventionsOf(names: ConventionNames): Conventions {
  return tables[names]
}

/** Returns the values that a span, a metric or an event may have, under their names. */
export function attributesOf(conventions: Conventions, keys: readonly AttributeKey[], values: Values): Attributes {
  const attributes: Attributes = {}
  for (const key of keys) {
    const [name, value] = [conventions.attributes[key], values[key]]
    if (name !== undefined && value !== undefined) attributes[name] = value
  }
  return attributes
}

/** Names for what the conventions do not cover. */
export const alliumNames = {
  turn: 'allium.turn.id',
  status: 'allium.status',
  attempt: 'allium.attempt',
  tenant: 'allium.tenant',
  estimated: 'allium.usage.estimated',
  cost: 'allium.usage.cost',
  replayed: 'allium.replayed',
  layer: 'allium.layer',
  part: 'allium.prompt_cache.part',
  intended: 'allium.prompt_cache.intended',
  lostTokens: 'allium.prompt_cache.lost_tokens',
  rollout: 'allium.rollout.name',
  verdict: 'allium.rollout.verdict',
  decisions: 'allium.rollout.decisions',
} as const
