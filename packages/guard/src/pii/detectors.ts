import { type Detector, keyDetectors } from '@allium/detect'
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
