/** The first letters of a node's id if it is one of Ray's long ids, else the whole id. */
export function shortNode(id: string): string {
  return /^[0-9a-f]{32,}$/.test(id) ? id.slice(0, 8) : id;
}
