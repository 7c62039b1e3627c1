/** Whether a URL's host is not public, as far as its name or literal address shows. */
export function namesPrivateHost({ hostname }: URL): boolean {
  const host = hostname.replace(/\.$/, '')
  if (host.startsWith('[')) return !isPublicV6(host)
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return !isPublicV4(host.split('.').map(Number))
  return !host.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(host)
}

/** https://www.iana.org/assignments/iana-ipv4-special-registry, and cloud metadata services */
function isPublicV4([a = 0, b = 0, c = 0, d = 0]: readonly number[]): boolean {
  if (a === 0 || a === 10 || a === 127 || a >= 224) return false
  if (a === 100) return b < 64 || b > 127
  if (a === 169) return b !== 254
  if (a === 172) return b < 16 || b > 31
  if (a === 192) return !(b === 168 || (b === 0 && (c === 0 || c === 2)))
  if (a === 198) return !(b === 18 || b === 19 || (b === 51 && c === 100))
  if (a === 203) return !(b === 0 && c === 113)
  return !(a === 168 && b === 63 && c === 129 && d === 16)
}

/** Global unicast, without ranges that lead to IPv4 addresses: https://www.iana.org/assignments/iana-ipv6-special-registry */
function isPublicV6(host: string): boolean {
  return /^\[[23][0-9a-f]{3}:/.test(host) && !/^\[(2001:0?:|2001::|2001:db8:|2002:|3fff:)/.test(host)
}
