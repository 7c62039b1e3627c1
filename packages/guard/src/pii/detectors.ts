import { type Detector, keyDetectors } from '@allium/detect'
import { card } from './card.ts'
import { email } from './email.ts'
import { iban } from './iban.ts'
import { ip } from './ip.ts'
import { phone } from './phone.ts'
import { ssn } from './ssn.ts'

/** What `guard.pii` finds by itself. */
export type PiiType = 'email' | 'phone' | 'card' | 'iban' | 'ip' | 'ssn' | 'api_key'

/**
 * Detectors whose time grows with the length of the text and nothing else: each looks for what its finding must have
 * (an @, digits, a prefix), and from there at no more characters than the longest finding has.
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
