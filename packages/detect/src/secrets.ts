import { type Detector, replaceFound } from './detector.ts'
import { innerKeys } from './keys/inner-keys.ts'
import { bearerTokens, privateKeys, urlPasswords, webTokens } from './keys/tokens.ts'
import { vendorKeys } from './keys/vendor-keys.ts'

/** Keys of vendors, JSON Web Tokens and private keys. */
export const keyDetectors: readonly Detector[] = [vendorKeys, webTokens, privateKeys, ...innerKeys]

const secretDetectors: readonly Detector[] = [...keyDetectors, bearerTokens, urlPasswords]

/** A text without what looks like a credential: keys, tokens behind "Bearer", passwords in URLs. */
export function hideSecrets(text: string, instead: string): string {
  return replaceFound(text, secretDetectors, () => instead)
}

/** Whether a setting, a header or a field of this name holds a credential. */
export function isSecretName(name: string): boolean {
  return /(?:authorization|cookie|passw(?:or)?d|secret|credentials?|(?:api|private|access)[-_]?key|token)$/i.test(name)
}
