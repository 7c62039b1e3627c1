import { hideSecrets } from '@allium/shared/detect'

/** Hides credentials in a text. */
export function withoutSecrets(text: string): string {
  return hideSecrets(text, '[hidden]')
}
