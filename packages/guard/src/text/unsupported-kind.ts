import { AlliumError } from '@allium/core'

/**
 * Content that no guard can inspect is not let through. A kind that is added to the type fails to compile if it is not handled.
 * At run time, a kind from a newer core is an error of the guard, which blocks unless it allows errors.
 */
export function unsupportedKind(value: never, what: 'chunk' | 'part'): never {
  const { type } = value as { type?: unknown }
  throw new AlliumError(
    'model.protocol',
    `This version of @allium/guard does not know a ${what} of the kind "${String(type)}". Install the same version of @allium/guard and @allium/core.`,
  )
}
