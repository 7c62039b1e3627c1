/** The reason of a denial, for the model and the card. The history stores a denied call as a failed one with this text. */
export const denials = { byOwner: 'A person denied it.', byAdmin: 'An admin denied it.' } as const

export function isDenial(text: string): boolean {
  return Object.values<string>(denials).includes(text)
}
