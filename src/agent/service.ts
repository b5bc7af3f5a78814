/** The service that runs the agent: the unit of systemd, and the commands that make a service of Windows. */

/** The name of the service. */
export const SERVICE = 'hawser-agent';

/** What the service runs. All paths are absolute, as they are on the machine that runs it. */
export interface Service {
  node: string;
  program: string;
  settings: string;
  state: string;
  /** Whether it must not be able to change the machine. */
  isReadOnly: boolean;
}

/** The folder that systemd makes by itself where it is the state folder. */
export const STATE_PARENT = '/var/lib';

/** The unit of systemd as text. */
export function unitOf(service: Service): string {
  const { node, program, settings, state, isReadOnly } = service;
  const words = [node, program, 'run', '--config', settings].map(quote).join(' ');
  const isOwn = state === `${STATE_PARENT}/${SERVICE}`;
  return `# The systemd unit of the agent of Hawser, made by "hawser-agent install". Put changes for one machine into a drop-in
# (systemctl edit ${SERVICE}), because the next "install" replaces this file.

[Unit]
Description=Agent of Hawser, which pulls, runs and reports the configuration of this machine
# The first cycle needs the network. Later ones wait for it by themselves.
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${words}
# The command must see and change what belongs to all users.
User=root
${isOwn ? `StateDirectory=${SERVICE}\nStateDirectoryMode=0700` : `ReadWritePaths=${quote(state)}`}
WorkingDirectory=${escapePercent(state)}
# The command is looked for in this path. Put other folders into a drop-in:
#   Environment=PATH=/opt/dsc:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin

Restart=on-failure
RestartSec=5
# A restart does not correct a wrong command line or setting.
RestartPreventExitStatus=2 78
# SIGTERM goes to the agent alone, which ends the command and gives it 10 s.
KillMode=mixed
TimeoutStopSec=30

# MemoryDenyWriteExecute is not set: V8 compiles code while it runs, and does not start with this setting.
LockPersonality=yes
RestrictRealtime=yes
KeyringMode=private
${isReadOnly ? READ_ONLY : WRITABLE}
[Install]
WantedBy=multi-user.target
`;
}

const READ_ONLY = `
# This file was made with --read-only: the command tests this machine and changes nothing. So it sees the machine as it
# is, and may write to the state folder and its own /tmp alone. If the server wants Remediate, "set" fails. To allow it,
# install again without --read-only.
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
NoNewPrivileges=yes
# The first two read what belongs to others, the last ones are for programs that the command runs as another user.
CapabilityBoundingSet=CAP_DAC_READ_SEARCH CAP_SYS_PTRACE CAP_KILL CAP_SETGID CAP_SETUID
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelTunables=yes
RestrictNamespaces=yes
RestrictSUIDSGID=yes
# AF_NETLINK tells about addresses and routes, AF_UNIX leads to the system's services.
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
`;

const WRITABLE = `
# The server says whether the command tests this machine or changes it. In Remediate it installs packages and starts
# services, so it may do what root may. "hawser-agent install --read-only" makes a unit that can only test.
`;

/** The commands that make the service of Windows. They are for a console of an administrator. */
export function windowsCommands({
  node,
  program,
  settings,
}: Pick<Service, 'node' | 'program' | 'settings'>): string {
  const words = [node, program, 'run', '--config', settings].map((word) => `\\"${word}\\"`).join(' ');
  return `rem The agent of Hawser has not been tried on Windows. Node does not answer the service manager by itself, so put
rem a program that does so (such as WinSW or NSSM) before it if the service does not start.
sc.exe create ${SERVICE} binPath= "${words}" start= auto DisplayName= "Agent of Hawser"
sc.exe failure ${SERVICE} reset= 86400 actions= restart/5000
sc.exe start ${SERVICE}
`;
}

/** The commands that remove the service of Windows. */
export function windowsRemoval(): string {
  return `sc.exe stop ${SERVICE}\nsc.exe delete ${SERVICE}\n`;
}

/** A word of ExecStart, in which systemd replaces variables and specifiers (systemd.service(5), COMMAND LINES). */
function quote(word: string): string {
  const escaped = word.replace(/[\\"]/g, '\\$&').replaceAll('$', '$$$$');
  return `"${escapePercent(escaped)}"`;
}

function escapePercent(word: string): string {
  return word.replaceAll('%', '%%');
}
