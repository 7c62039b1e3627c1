import { misconfigured } from '@allium/core'
import { type Detector, keyDetectors } from '@allium/shared/detect'
import { createDetector, type DetectorOptions } from '../content/detector.ts'
import { card } from './card.ts'
import { email } from './email.ts'
import { iban } from './iban.ts'
import { ip } from './ip.ts'
import { phone } from './phone.ts'
import { ssn } from './ssn.ts'

/** The types that `guard.pii` finds without configuration. */
export type PiiType = 'email' | 'phone' | 'card' | 'iban' | 'ip' | 'ssn' | 'api_key'

/**
 * Detectors whose run time is linear in the text length. Each looks for a required part of its finding (an @, digits, a prefix)
 * and from there reads at most as many characters as the longest finding has.
 */
export const piiDetectors: Readonly<Record<PiiType, readonly Detector[]>> = {
  api_key: keyDetectors,
  email: [email],
  iban: [iban],
  card: [card],
  ssn: [ssn],
  phone: [phone],
  ip,
}

export const piiTypes = Object.keys(piiDetectors) as PiiType[]

/** @throws AlliumError `layer.config` for an unknown type */
export function builtInDetectors(layer: string, type: PiiType): readonly Detector[] {
  const detectors = piiDetectors[type]
  if (detectors !== undefined) return detectors
  throw misconfigured(layer, `has the unknown type "${type}". Known types: ${piiTypes.join(', ')}.`)
}

/** @throws AlliumError `layer.config` for a type that cannot be part of a placeholder */
export function customDetector(layer: string, options: DetectorOptions): Detector {
  const detector = createDetector(layer, options)
  if (/^[a-z][a-z0-9_]{0,40}$/.test(detector.type)) return detector
  throw misconfigured(
    layer,
    `has a detector "${detector.type}", whose type names its placeholders. Use lower-case letters, digits and "_".`,
  )
}
