import type { AiSdkModel } from '@allium/providers'

/** A provider's package, as the lab imports it. */
export type ProviderPackage = Record<string, (options: object) => Provider>
/** What its factory returns. */
export interface Provider {
  (id: string, settings?: object): AiSdkModel
  [kind: string]: (id: string, settings?: object) => AiSdkModel
}

/** One model object of a package, in one or two versions. */
export interface Row {
  /** The provider's name in the docs. */
  name: string
  /** The package on npm. In `packages/package.json` it is the newest version, and `PACKAGE-node20` what npm installs on Node 20. */
  package: string
  /** The versions in `packages/package.json`. @default ['newest', 'node20'] */
  versions?: readonly Version[]
  /** The wire format, of `formats/index.ts`. */
  format: string
  /** What to set, for the docs. */
  set?: string
  model(from: ProviderPackage, url: string): AiSdkModel
}
export type Version = 'newest' | 'node20'
export const bothVersions: readonly Version[] = ['newest', 'node20']

/** The name of a package in `packages/package.json`. */
export function installedName({ package: name }: Row, version: Version): string {
  return version === 'newest' ? name : `${name}-node20`
}
