/** Runs what a user without any rights of their own would. The superuser, who runs many tests, may read and write everything. */

const NOBODY = 65_534;

export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  const isSuperuser = process.geteuid?.() === 0;
  if (isSuperuser) process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    if (isSuperuser) process.seteuid?.(0);
  }
}
