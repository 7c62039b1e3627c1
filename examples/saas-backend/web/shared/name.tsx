export interface NameProps {
  of: string
  /** Characters that are shown; the whole text is in a tooltip. @default 80 */
  most?: number
}

/** An untrusted text, such as the name of a user or a tool. It cannot change the direction or the size of the text around it. */
export function Name({ of, most = 80 }: NameProps) {
  if (of.length <= most) return <bdi>{of}</bdi>
  return <bdi title={of}>{`${[...of].slice(0, most).join('')}…`}</bdi>
}
