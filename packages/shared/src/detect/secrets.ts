import { type Detector, replaceFound } from './detector.ts'
import { innerKeys } from './keys/inner-keys.ts'
import { bearerTokens, privateKeys, urlPasswords, webTokens } from './keys/tokens.ts'
import { vendorKeys } from './keys/vendor-keys.ts'

/** Vendor keys, JSON Web Tokens and private keys. */
export const keyDetectors: readonly Detector[] = [vendorKeys, webTokens, privateKeys, ...innerKeys]

const secretDetectors: readonly Detector[] = [...keyDetectors, bearerTokens, urlPasswords]

/** Returns a text with credentials replaced: keys, tokens after "Bearer", passwords in URLs. */
export function hideSecrets(text: string, instead: string): string {
  return replaceFound(text, secretDetectors, () => instead)
}

/** Whether a setting, header or field with this name contains a credential. */
export function isSecretName(name: string): boolean {
  return /(?:authorization|cookie|passw(?:or)?d|secret|credentials?|(?:api|private|access)[-_]?key|token)$/i.test(name)
}
