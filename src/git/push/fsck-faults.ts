/** The faults that git finds in the objects of a push (git-fsck, "fsck messages"): which are taken, and what the others say. */

/**
 * Faults of old history that harm nobody: programs of git's first years made them, and all readers read past them. To
 * change them would change the id of every commit after it.
 */
const TAKEN = ['badTimezone', 'badDateOverflow', 'missingSpaceBeforeDate', 'zeroPaddedFilemode'];

/** For `git index-pack`: all faults are refused but these. */
export const STRICT = `--strict=${TAKEN.map((id) => `${id}=ignore`).join(',')}`;

const NOT_WHO = 'the line that says who made it';

/** What is wrong with the object, by git's name of the fault, as the end of a sentence. */
const WORDS: Record<string, string> = {
  badDate: `${NOT_WHO} has no date that can be read`,
  badEmail: `${NOT_WHO} has an e-mail address that is not between < and >`,
  badName: `${NOT_WHO} has a name with a sign that no name may have`,
  badObjectSha1: 'it names an object by what is no id',
  badParentSha1: 'it names a parent by what is no id',
  badTree: 'it is a folder that cannot be read',
  badTreeSha1: 'it names its files by what is no id',
  badType: 'it names an object of a type that does not exist',
  duplicateEntries: 'two of its files have the same name',
  emptyName: 'one of its files has an empty name',
  fullPathname: 'one of its files has a name with a slash',
  gitattributesBlob: 'its .gitattributes is no file',
  gitattributesLarge: 'its .gitattributes is too large',
  gitattributesLineLength: 'its .gitattributes has a line that is too long',
  gitmodulesBlob: 'its .gitmodules is no file',
  gitmodulesLarge: 'its .gitmodules is too large',
  gitmodulesName: 'its .gitmodules has a name that would harm those who clone it',
  gitmodulesPath: 'its .gitmodules has a path that would harm those who clone it',
  gitmodulesSymlink: 'its .gitmodules is a link',
  gitmodulesUpdate: 'its .gitmodules has a command that would run where it is cloned',
  gitmodulesUrl: 'its .gitmodules has a URL that would harm those who clone it',
  hasDot: 'one of its files is named "."',
  hasDotdot: 'one of its files is named ".."',
  hasDotgit: 'one of its files is named ".git"',
  largePathname: 'one of its files has a name that is too long',
  missingAuthor: 'it does not say who its author is',
  missingCommitter: 'it does not say who its committer is',
  missingEmail: `${NOT_WHO} has no e-mail address between < and >`,
  missingNameBeforeEmail: `${NOT_WHO} has no name before the e-mail address`,
  missingObject: 'it does not say which object it stands on',
  missingSpaceBeforeEmail: `${NOT_WHO} has no space before the e-mail address`,
  missingTag: 'it is a tag without a name',
  missingTagEntry: 'it is a tag without a name',
  missingTree: 'it does not say which files it has',
  missingType: 'it does not say of which type the object is that it stands on',
  missingTypeEntry: 'it does not say of which type the object is that it stands on',
  multipleAuthors: 'it has more than one author line',
  nulInCommit: 'its text has a NUL byte',
  nulInHeader: 'its header has a NUL byte',
  nullSha1: 'it names an object by an id of zeros alone',
  treeNotSorted: 'its files are not in the order that git needs',
  unknownType: 'it is of a type that does not exist',
  unterminatedHeader: 'its header has no end',
  zeroPaddedDate: `${NOT_WHO} has a date with a zero at its front`,
};

/**
 * The refusal of a push in which git has found a fault.
 * @param said the first line of git's errors
 * @param show makes text safe to show
 * @returns null where the line says something else
 */
export function describeFsckFault(said: string, show: (text: string) => string): string | null {
  const [, oid, id = '', text = ''] = /^object ([0-9a-f]{40}): (\w+): (.*)$/.exec(said) ?? [];
  if (oid === undefined) return null;
  const words = Object.hasOwn(WORDS, id) ? WORDS[id] : show(text);
  return (
    `Git finds a fault in the object ${oid} of the push: ${words} (git calls it ${show(id)}); ` +
    'make that part of the history anew and push again'
  );
}
