/** Why a call was denied, for the model and the card. The stored history has a denied call as a failed one with this text. */
export const denials = { byOwner: 'A person denied it.', byAdmin: 'An admin denied it.' } as const

export function isDenial(text: string): boolean {
  return Object.values<string>(denials).includes(text)
}
