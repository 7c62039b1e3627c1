import { AlliumError } from '@allium/core'

/**
 * What no guard knows how to look at is not let through. A kind that is added to the type fails to compile where it is not
 * handled; one that comes all the same, from a newer core, is an error of the guard, which blocks unless it allows errors.
 */
export function unsupportedKind(value: never, what: 'chunk' | 'part'): never {
  const { type } = value as { type?: unknown }
  throw new AlliumError(
    'model.protocol',
    `A ${what} of the kind "${String(type)}" is unknown to this version of @allium/guard. Install the version that matches your @allium/core.`,
  )
}
