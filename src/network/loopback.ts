/** Host names that always mean this machine. */

/** `name`: the host of a URL, with or without the brackets of an IPv6 address. */
export function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name)
  )
}
