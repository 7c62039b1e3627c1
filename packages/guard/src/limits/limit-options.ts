import { layerOptions } from '@allium/core'

/**
 * The options of every limit. To add one, declare it here and check it in `sharedChecks`. Each limit then accepts it and gets it from its
 * `readOptions`.
 */
export interface LimitOptions<Name extends string = string> {
  /** The layer's name, and the prefix of its state keys. @default the function's name, such as 'guard:budget' */
  as?: Name | undefined
}

type Checks<O extends { as?: string }> = Parameters<typeof layerOptions<O>>[1]

/** `layerOptions` itself checks `as`. */
const sharedChecks: Checks<LimitOptions> = {}

/** Declares the options of a limit besides `LimitOptions`. Returns the function that reads all of them. */
export function limitOptions<O extends LimitOptions>(
  name: `guard:${string}`,
  ownChecks: Checks<Omit<O, keyof LimitOptions>>,
) {
  const read = layerOptions<O>(name, { ...sharedChecks, ...ownChecks } as Checks<O>)
  return <G extends O>(given: G): G & { as: NonNullable<G['as']> } => {
    const options = read(given)
    return { ...options, as: (options.as ?? name) as NonNullable<G['as']> }
  }
}
