import { AlliumError, sessionKeyOf, tenantOf } from '@allium/core'
import { checkOptions, isThenable, type KeysOf, type SessionPlace } from '@allium/core/internal'
import { type AnyContext, type Combinable, type Combined, combine } from './combine.ts'
import { describe } from './describe.ts'
import { runIf } from './when.ts'

export interface CanaryOptions {
  /** The share of keys that use the layer, 0 to 100. A larger share includes the keys of a smaller one. */
  percent: number
  /**
   * Returns the key; the same key always gets the same result. Undefined or an empty text means the session.
   * @default the tenant and the owner of the session; without them the session itself
   */
  per?(ctx: AnyContext): string | number | undefined | Promise<string | number | undefined>
}

const optionKeys: KeysOf<CanaryOptions> = { percent: true, per: true }

/**
 * Runs a layer for a stable share of users, tenants or sessions.
 *
 * Use it to introduce a new layer: begin with a few percent, observe its effect, raise the number. Two canaries choose independently,
 * because the layer's name is part of the hash. Agent hooks, which belong to no user, run unless `percent` is 0.
 *
 * @example
 * agent.use(canary(newGuard, { percent: 5 }))
 *
 * @throws AlliumError `layer.config` when `percent` is not from 0 to 100
 */
export function canary<M extends Combinable>(layer: M, options: CanaryOptions): Combined<M> {
  checkOptions(options ?? null, optionKeys, 'canary()', 'layer.config')
  const { percent, per = ownerKey } = options
  if (typeof percent !== 'number' || !(percent >= 0 && percent <= 100))
    throw new AlliumError(
      'layer.config',
      `The percent of canary() must be a number from 0 to 100, but ${describe(percent)} was given.`,
    )
  return combine('canary', layer, (hook) =>
    runIf(
      'canary',
      (ctx, scope) => {
        if (percent === 0 || percent === 100 || scope === 'agent') return percent > 0
        const key = per(ctx)
        return isThenable(key)
          ? key.then((resolvedKey) => isSelected(hook.layer, resolvedKey, ctx))
          : isSelected(hook.layer, key, ctx)
      },
      hook,
      // A deploy may change the percentage while a run waits.
      { isFixed: false },
    ),
  )

  function isSelected(layerName: string, key: unknown, ctx: AnyContext): boolean {
    const rolloutKey = key === undefined || key === null || key === '' ? sessionKeyOf(ctx as SessionPlace) : key
    return hashToUnit(String(rolloutKey), layerName) * 100 < percent
  }
}

/** The tenant and the owner of a session, as a key. */
export function ownerKey({ principal, sessionKey }: AnyContext): string | undefined {
  const tenant = tenantOf(principal)
  const owner = sessionKey?.owner || undefined
  return tenant === undefined && owner === undefined ? undefined : JSON.stringify([tenant, owner])
}

/** Hashes a key to a number between 0 and 1: FNV-1a with mixed bits, because keys that differ only at the end would be close together. */
export function hashToUnit(key: string, salt: string): number {
  let hash = 0x811c9dc5
  const text = `${salt}\n${key}`
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
