import { hideSecrets } from '@allium/detect'

/** A text without what looks like a credential. */
export function withoutSecrets(text: string): string {
  return hideSecrets(text, '[hidden]')
}
